"""Archives: the same bytes, what is compared, what is named, and what is refused."""

import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dumbbell
from dumbbell import _core
from dumbbell.archive import archive, verify
from dumbbell.archive.extract import extract
from dumbbell.archive.tar import write_tar
from dumbbell.base.errors import ResultError
from dumbbell.cli import invoke
from dumbbell.run.directory import encode

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """A sweep of two cells and a run, saved."""
    path = tmp_path_factory.mktemp("saved")
    words = ("copa", "cubic", "--time", "1s")
    assert invoke(["sweep", *words, "--buffer", "1bdp,2bdp", "--out", str(path / "sweep")]) == 0
    assert invoke(["run", *words, "--out", str(path / "run")]) == 0
    return path


@pytest.fixture(scope="module")
def packed(saved):
    """The archive of the sweep."""
    archive(saved / "sweep", saved / "sweep.tar.zst")
    return saved / "sweep.tar.zst"


def members(path: Path) -> dict[str, bytes]:
    with pa.input_stream(str(path), compression="zstd") as stream:
        content = io.BytesIO(stream.read())
    with tarfile.open(fileobj=content) as tar:
        files = {info.name: tar.extractfile(info) for info in tar}
        return {name: file.read() for name, file in files.items() if file is not None}


def repack(path: Path, changes: dict[str, bytes], to: Path) -> Path:
    """Write an archive with other contents and a manifest that fits them."""
    from hashlib import sha256

    content = members(path) | changes
    manifest = json.loads(content.pop("manifest.json"))
    manifest["members"] = {
        name: {"bytes": len(each), "sha256": sha256(each).hexdigest()}
        for name, each in content.items()
    }
    write_tar(to, [("manifest.json", json.dumps(manifest).encode()), *content.items()])
    return to


def dumbbell_in(directory: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "dumbbell", *arguments],
        cwd=directory, capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": str(Path(dumbbell.__file__).parents[1])},
    )  # fmt: skip


def test_the_same_runs_give_the_same_bytes(saved, packed, tmp_path):
    again = archive(saved / "sweep", tmp_path / "again.tar.zst")
    assert again.path.read_bytes() == packed.read_bytes()
    content = members(packed)
    names = list(content)
    assert names[0] == "manifest.json"
    assert names[1:] == sorted(names[1:])
    manifest = json.loads(content["manifest.json"])
    assert manifest["kind"] == "sweep"
    assert [run["seed"] for run in manifest["runs"]] == [1, 1]
    copa = content["sources/built-in/copa.bpf.c"].decode()
    assert copa == (ROOT / "cc/copa.bpf.c").read_text() == _core.builtin_sources()["copa.bpf.c"]
    assert "sources/built-in/bbr.bpf.c" not in content
    group = manifest["runs"][0]["congestion_controls"][0]
    assert group["name"] == "copa"
    assert group["parameters"]["mode_window_rtts"] == 10


def test_a_sweep_verifies_from_end_to_end(saved, packed, tmp_path):
    done = dumbbell_in(tmp_path, "archive", "verify", str(packed))
    assert (done.returncode, done.stderr) == (0, "")
    assert "2 runs repeated: identical" in done.stdout
    made = dumbbell_in(saved, "archive", "run", "-o", str(tmp_path / "run.tar.zst"), "--json")
    assert json.loads(made.stdout)["kind"] == "run"
    verified = dumbbell_in(tmp_path, "archive", "verify", "run.tar.zst", "--json")
    assert json.loads(verified.stdout)["identical"]


def test_names_what_differs(packed, tmp_path, cli):
    """As on an installation whose Copa has another constant: results, source and build differ."""
    content = members(packed)
    place = "results/runs/buffer=1bdp,rep=0"
    table = pq.read_table(pa.BufferReader(content[f"{place}/flows.parquet"]))
    index = table.column_names.index("cwnd_pkts")
    values = table["cwnd_pkts"].to_pylist()
    values[7] += 1
    other = table.set_column(index, "cwnd_pkts", pa.array(values, table.schema.field(index).type))
    document = json.loads(content[f"{place}/run.json"])
    document["flows"][0]["sent_pkts"] += 1
    source = content["sources/built-in/copa.bpf.c"].decode()
    line = next(each for each in source.splitlines() if each.startswith("PARAM("))
    rows = pq.read_table(pa.BufferReader(content["results/rows.parquet"]))
    changes = {
        f"{place}/flows.parquet": encode(other),
        f"{place}/run.json": json.dumps(document).encode(),
        "sources/built-in/copa.bpf.c": source.replace(line, "PARAM(changed)").encode(),
        "results/rows.parquet": encode(rows),  # other bytes, the same values
    }
    outcome = cli("archive", "verify", str(repack(packed, changes, tmp_path / "changed.tar.zst")))
    assert outcome.code == 1
    sent = document["flows"][0]["sent_pkts"]
    time_us = table["time_us"][7].as_py()
    for text in (
        f"{place}/run.json differs: `flows[0].sent_pkts`: {sent} in the archive, {sent - 1} here",
        f"{place}/flows.parquet differs: column `cwnd_pkts` differs first in row 7 (time_us "
        f"{time_us}, flow ",
        f"{values[7]} in the archive, {values[7] - 1} here",
        "source cc/copa.bpf.c, line ",
        f"`PARAM(changed)` in the archive, `{line.strip()}` here",
    ):
        assert text in outcome.err
    assert "2 runs repeated: 1 differ" in outcome.out
    assert "buffer=2bdp" not in outcome.err


def test_rows_of_a_sweep_are_measured_again(packed, tmp_path):
    rows = pq.read_table(pa.BufferReader(members(packed)["results/rows.parquet"]))
    index = rows.column_names.index("jain")
    other = rows.set_column(index, "jain", pa.array([0.25] * rows.num_rows))
    changed = repack(packed, {"results/rows.parquet": encode(other)}, tmp_path / "c.tar.zst")
    result = verify(changed)
    assert [each.part for each in result.differences] == ["rows.parquet"]
    assert "column `jain` differs first in row 0" in result.differences[0].what


def test_code_in_an_archive_needs_trust(tmp_path, cli, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "share.h").write_text("#define FACTOR 2\n")
    source = (ROOT / "cc/reno.bpf.c").read_text()
    (tmp_path / "mine.bpf.c").write_text(
        source.replace("#include", '#include "share.h"\n#include', 1)
    )
    assert cli("run", "./mine.bpf.c", "reno", "--time", "1s", "--out", "run").code == 0
    assert cli("archive", "run", "-o", "mine.tar.zst").code == 0
    content = members(tmp_path / "mine.tar.zst")
    entry = json.loads(content["manifest.json"])["congestion_controls"]["./mine.bpf.c"]
    place = f"sources/mine.bpf.c-{entry['digest'][:16]}"
    assert entry["main"] == f"{place}/mine.bpf.c"
    assert content[f"{place}/share.h"] == b"#define FACTOR 2\n"
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    outcome = cli("archive", "verify", "../mine.tar.zst")
    assert outcome.code == 2
    assert "compiles and runs code that it carries" in outcome.err
    assert "use `--trust`" in outcome.err
    outcome = cli("archive", "verify", "../mine.tar.zst", "--trust")
    assert (outcome.code, outcome.err) == (0, "")
    # A scenario that names a file of the reader's machine does not get it run.
    manifest = json.loads(content["manifest.json"])
    manifest["congestion_controls"] = {}
    stolen = {"manifest.json": json.dumps(manifest).encode()}
    with pytest.raises(ResultError, match=r"does not hold the source of `./mine.bpf.c`"):
        verify(repack(tmp_path / "mine.tar.zst", stolen, tmp_path / "stolen.tar.zst"))
    # The source in an archive is the one that ran, whatever has become of the file.
    monkeypatch.chdir(tmp_path)
    changed = source.replace("return", "return 1 + ", 1)
    assert changed != source
    (tmp_path / "mine.bpf.c").write_text(changed)
    assert cli("archive", "run", "-o", "again.tar.zst").code == 0
    assert (tmp_path / "again.tar.zst").read_bytes() == (tmp_path / "mine.tar.zst").read_bytes()


def test_a_run_of_an_earlier_version_is_archived_with_proof(tmp_path, cli, monkeypatch):
    """It carries no source: the file is built again, and must be what ran."""
    monkeypatch.chdir(tmp_path)
    source = (ROOT / "cc/reno.bpf.c").read_text()
    (tmp_path / "mine.bpf.c").write_text(source)
    assert cli("run", "./mine.bpf.c", "reno", "--time", "1s", "--out", "run").code == 0
    shutil.rmtree(tmp_path / "run/sources")
    document = json.loads((tmp_path / "run/run.json").read_text())
    for group in document["groups"]:
        del group["source"], group["declared"]
    (tmp_path / "run/run.json").write_text(json.dumps(document))
    assert cli("archive", "run", "-o", "old.tar.zst").code == 0
    assert cli("archive", "verify", "old.tar.zst", "--trust").code == 0
    (tmp_path / "mine.bpf.c").write_text(source.replace("return", "return 1 + ", 1))
    outcome = cli("archive", "run", "-o", "changed.tar.zst")
    assert outcome.code == 2
    assert "`./mine.bpf.c` has changed since the runs" in outcome.err
    assert not (tmp_path / "changed.tar.zst").exists()


def test_kernel_runs_are_listed_and_not_run_again(tmp_path, fabricated_kernel, cli):
    scenario = dumbbell.Scenario(["linux/cubic"], time="1s")
    dumbbell.run(scenario, engine="kernel").save(tmp_path / "run")
    archive(tmp_path / "run", tmp_path / "kernel.tar.zst")
    outcome = cli("archive", "verify", str(tmp_path / "kernel.tar.zst"))
    assert outcome.code == 0
    assert fabricated_kernel.runs == 1
    assert "kernel       1 run: measured, not run again" in outcome.out


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda c: c | {"results/run.json": b"{}"}, "differs from its SHA-256"),
        (lambda c: {k: v for k, v in c.items() if k != "results/run.json"}, "is missing"),
        (lambda c: c | {"results/extra.parquet": b""}, "is not in the manifest"),
        (lambda c: {"other.json": b""} | c, "manifest.json is missing"),
        (lambda c: c | {"../outside": b"x"}, r"invalid member name `../outside`"),
        (lambda c: c | {"/outside": b"x"}, r"invalid member name `/outside`"),
    ],
)
def test_refuses_what_was_changed(saved, tmp_path, change, message):
    archive(saved / "run", tmp_path / "run.tar.zst")
    content = change(members(tmp_path / "run.tar.zst"))
    write_tar(tmp_path / "bad.tar.zst", content.items())
    with pytest.raises(ResultError, match=message):
        verify(tmp_path / "bad.tar.zst")
    assert not (tmp_path / "outside").exists()


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda m: m.update(versions=[]), "`versions` is not an object with texts"),
        (lambda m: m.update(runs={}), "`runs` is not a list"),
        (lambda m: m["runs"][0].update(engine_build=[]), "`runs[0].engine_build` cannot be []"),
        (lambda m: m["runs"][0].pop("engine"), "'engine'"),
        (lambda m: m["congestion_controls"]["copa"].update(builds=3), "has no attribute 'items'"),
        (
            lambda m: m["congestion_controls"]["copa"]["builds"].update(simulator=[None]),
            "`congestion_controls.copa.builds.simulator[0]` cannot be None",
        ),
    ],
)
def test_a_manifest_of_another_form_is_damaged(saved, tmp_path, cli, change, says):
    archive(saved / "run", tmp_path / "run.tar.zst")
    content = members(tmp_path / "run.tar.zst")
    manifest = json.loads(content["manifest.json"])
    change(manifest)
    write_tar(
        tmp_path / "bad.tar.zst",
        (content | {"manifest.json": json.dumps(manifest).encode()}).items(),
    )
    outcome = cli("archive", "verify", str(tmp_path / "bad.tar.zst"))
    assert outcome.code == 2
    assert "bad.tar.zst: manifest.json: is damaged: " in outcome.err
    assert says in outcome.err
    assert outcome.err.count("\n") == 1


def test_nothing_is_behind_an_archive_s_end(saved, tmp_path):
    """Not even what zstd's decompressors pass over, and nothing behind the last member."""
    whole = archive(saved / "run", tmp_path / "run.tar.zst").path.read_bytes()
    skippable = b"\x50\x2a\x4d\x18" + (5).to_bytes(4, "little") + b"hello"
    path = tmp_path / "more.tar.zst"
    for more in (b"x", b"\0" * 100, skippable, pa.compress(b"hello", "zstd", asbytes=True)):
        path.write_bytes(whole + more)
        with pytest.raises(ResultError, match=rf"damaged: has {len(more)} bytes? behind its end"):
            verify(path)
    with pa.input_stream(str(tmp_path / "run.tar.zst"), compression="zstd") as stream:
        content = stream.read()
    for rest, is_refused in ((b"hello", True), (bytes(4096), False)):
        path.write_bytes(pa.compress(content + rest, "zstd", asbytes=True))
        if is_refused:
            with pytest.raises(ResultError, match="damaged: goes on behind its last member"):
                verify(path)
        else:
            assert verify(path).is_identical


def test_a_damaged_table_is_not_archived(saved, tmp_path):
    shutil.copytree(saved / "run", tmp_path / "run")
    flows = tmp_path / "run" / "flows.parquet"
    flows.write_bytes(flows.read_bytes()[:-10])
    with pytest.raises(ResultError, match=r"flows\.parquet: is damaged: not a whole Parquet"):
        archive(tmp_path / "run", tmp_path / "run.tar.zst")
    assert not (tmp_path / "run.tar.zst").exists()


def test_refuses_links_bombs_and_garbage(saved, tmp_path):
    archive(saved / "run", tmp_path / "run.tar.zst")
    with pytest.raises(ResultError, match="larger than allowed"):
        verify(tmp_path / "run.tar.zst", max_bytes=100_000)
    content = members(tmp_path / "run.tar.zst")
    link = tarfile.TarInfo("results/run.json")
    link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
    with (
        pa.OSFile(str(tmp_path / "link.tar.zst"), "wb") as file,
        pa.CompressedOutputStream(file, "zstd") as stream,
        tarfile.open(fileobj=stream, mode="w|") as tar,
    ):
        info = tarfile.TarInfo("manifest.json")
        info.size = len(content["manifest.json"])
        tar.addfile(info, io.BytesIO(content["manifest.json"]))
        tar.addfile(link)
    with pytest.raises(ResultError, match="is not a regular file"):
        extract(tmp_path / "link.tar.zst", tmp_path / "out")
    (tmp_path / "garbage.tar.zst").write_bytes(b"no archive at all")
    with pytest.raises(ResultError, match=r"garbage\.tar\.zst: is not an archive"):
        verify(tmp_path / "garbage.tar.zst")
    cut = (tmp_path / "run.tar.zst").read_bytes()[:-2000]
    (tmp_path / "cut.tar.zst").write_bytes(cut)
    with pytest.raises(ResultError, match=r"cut\.tar\.zst: damaged: "):
        verify(tmp_path / "cut.tar.zst")


def test_long_names_survive(tmp_path):
    name = "results/" + "a" * 180 + "/" + "b" * 120
    write_tar(tmp_path / "long.tar.zst", [(name, b"content")])
    assert members(tmp_path / "long.tar.zst") == {name: b"content"}
    manifest = {
        "format": 1, "kind": "runs", "versions": {}, "runs": [], "congestion_controls": {},
        "members": {name: {"bytes": 7, "sha256": "ed7002b439e9ac845f22357d822bac14"
                           "44730fbdb6016d3ec9432297b9ec9f73"}},
    }  # fmt: skip
    text = json.dumps(manifest).encode()
    write_tar(tmp_path / "long.tar.zst", [("manifest.json", text), (name, b"content")])
    extract(tmp_path / "long.tar.zst", tmp_path / "out")
    assert (tmp_path / "out" / name).read_bytes() == b"content"


def test_the_citation_file_names_this_version():
    text = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert "cff-version: 1.2.0\n" in text
    assert f"\nversion: {dumbbell.__version__}\n" in text
