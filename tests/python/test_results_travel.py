"""Results of foreign congestion controls on another machine: moved, without sources or compiler."""

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dumbbell
from dumbbell import Run, Sweep, SweepResult, _core
from dumbbell.base.errors import ResultError, ScenarioError
from dumbbell.base.writing import Batch
from dumbbell.cli import invoke
from dumbbell.congestion_control import RecordedCongestionControl, recorded
from dumbbell.congestion_control.isolation import foreign_process
from dumbbell.congestion_control.source_store import StoredSources, write_sources
from dumbbell.congestion_control.sources import sources_of_file

ROOT = Path(__file__).resolve().parents[2]
#: A run and a sweep of `./mine.bpf.c` by the version before results carried sources.
OLD = ROOT / "tests/data/results-without-sources"

BPF = (ROOT / "cc/reno.bpf.c").read_text().replace("#include", '#include "gain.h"\n#include', 1)
MODULE = """
#include <linux/module.h>
#include <net/tcp.h>
#include "gain.h"

static u32 gain __read_mostly = GAIN;
module_param(gain, uint, 0644);
MODULE_PARM_DESC(gain, "packets for each acknowledged one");

static void mine_cong_avoid(struct sock *sk, u32 ack, u32 acked)
{
    tcp_reno_cong_avoid(sk, ack, acked * gain);
}

static struct tcp_congestion_ops mine __read_mostly = {
    .ssthresh = tcp_reno_ssthresh,
    .cong_avoid = mine_cong_avoid,
    .undo_cwnd = tcp_reno_undo_cwnd,
    .owner = THIS_MODULE,
    .name = "mine",
};

static int __init mine_register(void) { return tcp_register_congestion_control(&mine); }
static void __exit mine_unregister(void) { tcp_unregister_congestion_control(&mine); }

module_init(mine_register);
module_exit(mine_unregister);
MODULE_LICENSE("GPL");
"""
PYTHON = """
import gain

import dumbbell


class Mine(dumbbell.CongestionControl):
    "Halves on loss."

    parameters = (dumbbell.Parameter("step", "pkts", "growth", 1, 9, gain.STEP),)
    series = (dumbbell.Series("phase", "", "what it does", ("slow", "steady")),)

    def init(self, sk):
        self.phase = 0

    def cong_avoid(self, sk, ack, acked):
        self.phase = int(not sk.in_slow_start)
        if sk.in_slow_start:
            acked = dumbbell.tcp_slow_start(sk, acked)
        dumbbell.tcp_cong_avoid_ai(sk, sk.snd_cwnd, acked * self.step)
"""
FILES = {
    "mine.bpf.c": BPF,
    "tcp_mine.c": MODULE,
    "gain.h": "#define GAIN 1\n",
    "mine.py": PYTHON,
    "gain.py": "STEP = 1\n",
}
CCS = ("./mine.bpf.c", "./tcp_mine.c:gain=2", "./mine.py")


def write_files(directory: Path) -> None:
    directory.mkdir()
    for name, text in FILES.items():
        (directory / name).write_text(text)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A run with its capture and a sweep of three congestion controls in files, moved away."""
    here = tmp_path_factory.mktemp("made")
    write_files(here / "work")
    call = (sys.executable, "-m", "dumbbell")
    where = {**os.environ, "PYTHONPATH": str(Path(dumbbell.__file__).parents[1])}
    for words in (
        ("run", *CCS, "--time", "2s", "--out", "run", "--capture"),
        ("sweep", *CCS, "--buffer", "1,2,4bdp", "--time", "1s", "--no-cache", "--out", "sweep"),
    ):
        subprocess.run([*call, *words], cwd=here / "work", env=where, check=True)
    (here / "elsewhere").mkdir()
    for name in ("run", "sweep"):
        (here / "work" / name).rename(here / "elsewhere" / name)
    shutil.rmtree(here / "work")
    return here / "elsewhere"


@pytest.fixture
def moved(made, tmp_path, monkeypatch):
    """A copy, on a machine where nothing is compiled and no foreign code runs."""
    shutil.copytree(made, tmp_path / "colleague")

    def forbidden(*_arguments: object, **_options: object) -> None:
        raise AssertionError("reading a result compiled or executed something")

    for word in ("run", "describe", "precompile"):
        monkeypatch.setattr(_core, word, forbidden)
    monkeypatch.setattr(foreign_process, "follow", forbidden)
    monkeypatch.setattr(recorded, "native_compiler", forbidden)
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("VIRTUAL_ENV", raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path / "colleague"


@pytest.mark.parametrize(
    "words",
    [
        ("report", "run"),
        ("report", "sweep"),
        ("compare", "sweep", "sweep"),
        ("plot", "sweep", "--metric", "share"),
        ("plot", "run", "--series", "cwnd,phase"),
        ("report", "export", "run", "--csv"),
        ("report", "export", "sweep", "--csv"),
        ("analyze", "run/capture.pcapng"),
        ("archive", "run", "-o", "run.tar.zst"),
        ("archive", "sweep", "-o", "sweep.tar.zst"),
        ("sweep", "--resume", "sweep"),
    ],
)
def test_a_result_is_read_without_its_sources(moved, cli, monkeypatch, words):
    monkeypatch.chdir(moved)
    outcome = cli(*words)
    assert outcome.code == 0, outcome.err
    assert "error" not in outcome.err


def test_a_page_shows_what_it_did_where_it_was_made(moved, cli):
    assert cli("report", str(moved / "run")).code == 0
    page = (moved / "run/report.html").read_text(encoding="utf-8")
    assert all(name in page for name in ("mine.bpf.c", "tcp_mine.c:gain=2", "mine.py"))


def test_an_archive_without_source_is_checked_as_far_as_it_goes(moved, cli, monkeypatch):
    monkeypatch.chdir(moved)
    outcome = cli("archive", "run", "-o", "run.tar.zst", "--without-sources")
    assert outcome.code == 0
    assert "3 algorithms, 3 without source" in outcome.out
    outcome = cli("archive", "verify", "run.tar.zst")
    assert (outcome.code, outcome.err) == (0, "")
    assert "no source    1 run: not run again" in outcome.out


def test_it_says_what_ran(moved):
    run = Run.load(moved / "run")
    kinds = [group["declared"]["kind"] for group in run.groups]
    assert kinds == ["bpf", "module", "python"]
    module, mine = run.scenario.groups[1].cc, run.scenario.groups[2].cc
    assert isinstance(module, RecordedCongestionControl)
    assert (str(module), module.params) == ("./tcp_mine.c:gain=2", {"gain": 2})
    (gain,) = module.description.parameters
    assert (gain.name, gain.doc) == ("gain", "packets for each acknowledged one")
    assert (gain.default, gain.max) == (1, 2**32 - 1)
    assert module.description.ops == ("ssthresh", "cong_avoid", "undo_cwnd")
    (step,) = mine.description.parameters
    assert (step.unit, step.min, step.max, step.default) == ("pkts", 1, 9, 1)
    assert mine.series[0].labels == ("slow", "steady")
    sources = {Path(each.main).name: each for each in run.kept_sources()}
    kept = {"mine.bpf.c": BPF.encode(), "gain.h": FILES["gain.h"].encode()}
    assert sources["mine.bpf.c"].texts == kept
    assert sources["mine.py"].texts == {"mine.py": PYTHON.encode(), "gain.py": b"STEP = 1\n"}


def test_a_sweep_has_each_source_once(moved):
    listings = sorted(path.parent.name for path in (moved / "sweep").rglob("sources.json"))
    assert [name.rpartition("-")[0] for name in listings] == ["mine.bpf.c", "mine.py", "tcp_mine.c"]
    result = SweepResult.load(moved / "sweep")
    assert len(result.runs[1, 0].kept_sources()) == 3


def test_the_text_can_be_left_out(tmp_path, cli, monkeypatch):
    write_files(tmp_path / "work")
    monkeypatch.chdir(tmp_path / "work")
    words = ("./mine.bpf.c", "--time", "1s", "--without-sources", "--out")
    assert cli("run", *words, "run").code == 0
    assert cli("sweep", *words, "sweep", "--no-cache").code == 0
    shutil.rmtree("sweep/runs/all,rep=0")
    assert cli("sweep", "--resume", "sweep", "--no-cache").code == 0  # it stays left out
    for place in ("run", "sweep"):
        assert not list(Path(place).rglob("mine.bpf.c"))
        (listing,) = Path(place).rglob("sources.json")
        assert set(json.loads(listing.read_text())["files"]) == {"mine.bpf.c", "gain.h"}
    digest = Run.load("run").groups[0]["source"]["digest"]
    assert digest == Run.load("sweep/runs/all,rep=0").groups[0]["source"]["digest"]


def test_a_header_of_the_machine_does_not_travel(tmp_path, cli, monkeypatch):
    """An include, under a condition that never holds too, can name any file of the user's."""
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    (tmp_path / "id_key").write_text("secret key")
    named = '#if 0\n#include "../id_key"\n#include "/etc/hostname"\n#include "link.h"\n#endif\n'
    Path("mine.bpf.c").write_text(named + (ROOT / "cc/reno.bpf.c").read_text())
    Path("link.h").symlink_to(tmp_path / "id_key")
    assert cli("run", "./mine.bpf.c", "--time", "1s", "--out", "run").code == 0
    kept = [path for path in Path("run").rglob("*") if path.is_file()]
    assert not [path for path in kept if b"secret key" in path.read_bytes()]
    assert not list(Path("run").rglob("hostname"))


def test_only_a_file_s_own_directory_travels(tmp_path, monkeypatch):
    """A stranger's file can name any file of the user's, even where no compiler would read it."""
    stranger, private = tmp_path / "stranger", tmp_path / "private"
    stranger.mkdir()
    private.mkdir()
    (private / "secret.h").write_text("SECRET")
    (private / "secret_words.py").write_text("SECRET = 1")
    source = stranger / "mine.bpf.c"
    named = f'#if 0\n#include "../private/secret.h"\n#include "{private}/secret.h"\n#endif\n'
    source.write_text(named + (ROOT / "cc/reno.bpf.c").read_text())
    assert sources_of_file(source).texts.keys() == {"mine.bpf.c"}
    monkeypatch.syspath_prepend(str(private))
    source = stranger / "mine.py"
    source.write_text("import secret_words\n" + PYTHON)
    sources = sources_of_file(source)
    assert sources.texts.keys() == {"mine.py"}
    assert sources.digests.keys() == {"mine.py", "secret_words.py"}


def test_a_large_object_is_kept_by_its_digest_alone(tmp_path):
    (tmp_path / "mine.so").write_bytes(b"\x7fELF\0" + bytes(1 << 20))
    large = sources_of_file(tmp_path / "mine.so")
    assert (set(large.digests), large.texts, large.is_whole) == ({"mine.so"}, {}, False)
    write_sources(tmp_path, [large])
    stored = StoredSources(tmp_path)
    assert stored[large.digest].digest == large.digest
    (tmp_path / "mine.so").write_bytes(b"\x7fELF\0" + bytes(1 << 10))
    small = sources_of_file(tmp_path / "mine.so")
    assert small.is_whole
    assert small.digest != large.digest


def test_headers_count_however_they_are_named(tmp_path):
    """In angle brackets, with a name that is not UTF-8, and in a directory below the file's."""
    work = tmp_path / "work"
    write_files(work)
    (work / "shared").mkdir()
    (work / "shared/base.h").write_text("")
    (work / "own.h").write_text('#include "shared/base.h"\n')
    odd = os.fsdecode(b"\xff.h")
    (work / odd).write_text("")
    (work / "mine.c").write_bytes(b'#include <own.h>\n#include "\xff.h"\n#include <linux/tcp.h>\n')
    found = sources_of_file(work / "mine.c")
    names = {"mine.c", "own.h", odd, "shared/base.h"}
    assert set(found.digests) == names
    write_sources(tmp_path / "result", [found])
    assert StoredSources(tmp_path / "result")[found.digest].texts == found.texts
    assert sources_of_file(work / "mine.c") is found


@pytest.fixture
def incomplete(made, tmp_path, monkeypatch):
    """A sweep that lacks a run."""
    shutil.copytree(made / "sweep", tmp_path / "sweep")
    shutil.rmtree(tmp_path / "sweep/runs/buffer=2bdp,rep=0")
    monkeypatch.chdir(tmp_path)
    return tmp_path / "sweep"


def test_code_of_a_result_is_not_run_unasked(incomplete, cli, monkeypatch):
    with monkeypatch.context() as forbidden:
        forbidden.setattr(foreign_process, "follow", None)
        outcome = cli("sweep", "--resume", "sweep")
    assert outcome.code == 2
    assert outcome.err.count("\n") == 1
    assert "lacks runs or the source of `./mine.bpf.c`, which is not here" in outcome.err
    assert "`--cc FILE`" in outcome.err
    assert "`--trust`: it is code" in outcome.err
    # Not even from the place in the directory that its name happens to be.
    shutil.copytree(next(incomplete.glob("sources/mine.bpf.c-*")), incomplete, dirs_exist_ok=True)
    monkeypatch.chdir(incomplete)
    with monkeypatch.context() as forbidden:
        forbidden.setattr(foreign_process, "follow", None)
        assert "which is not here" in cli("sweep", "--resume", ".").err


def test_resumes_with_the_source_it_carries_when_trusted(incomplete, made, cli):
    assert cli("sweep", "--resume", "sweep", "--trust").code == 0
    before, after = (
        (where / "runs/buffer=2bdp,rep=0/flows.parquet").read_bytes()
        for where in (made / "sweep", incomplete)
    )
    assert after == before
    document = json.loads((incomplete / "runs/buffer=2bdp,rep=0/run.json").read_text())
    assert [group["cc"] for group in document["scenario"]["group"]] == list(CCS)
    assert cli("sweep", "--resume", "sweep").code == 0  # nothing is missing now


def test_resumes_with_the_files_that_ran(incomplete, cli, tmp_path, monkeypatch):
    """Where they were, or where the user says that they are."""
    shutil.copytree(incomplete, tmp_path / "again")
    write_files(tmp_path / "work")
    files = [word for cc in CCS for word in ("--cc", f"work/{Path(cc.partition(':')[0]).name}")]
    assert cli("sweep", "--resume", "sweep", *files).code == 0
    monkeypatch.chdir(tmp_path / "work")
    assert cli("sweep", "--resume", "../again").code == 0
    assert len(SweepResult.load("../again").runs) == 3


def test_a_file_that_has_changed_is_said_to_be(incomplete, cli, tmp_path, monkeypatch):
    write_files(tmp_path / "work")
    (tmp_path / "work/gain.h").write_text("#define GAIN 2\n")
    outcome = cli("sweep", "--resume", "sweep", "--cc", "work/mine.bpf.c")
    assert outcome.code == 2
    assert "`work/mine.bpf.c` has changed since the runs in sweep (SHA-256 " in outcome.err
    monkeypatch.chdir(tmp_path / "work")
    outcome = cli("sweep", "--resume", "../sweep")
    assert outcome.code == 2
    assert "`./mine.bpf.c` has changed since the runs in ../sweep" in outcome.err
    outcome = cli("sweep", "--resume", "../sweep", "--cc", "gain.py")
    assert "`gain.py` is not an algorithm of ../sweep" in outcome.err


def test_source_that_was_changed_in_the_directory_is_not_run(incomplete, cli):
    (kept,) = incomplete.glob("sources/mine.bpf.c-*/mine.bpf.c")
    kept.write_text(kept.read_text() + "\n/* mine now */\n")
    outcome = cli("sweep", "--resume", "sweep", "--trust")
    assert outcome.code == 2
    assert "mine.bpf.c: is damaged, or was changed" in outcome.err


def test_the_scenario_of_a_result_runs_where_its_file_is(moved, tmp_path, monkeypatch):
    monkeypatch.undo()
    scenario = Run.load(moved / "run").scenario.replace(time="1s")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ScenarioError, match=r"`./mine.bpf.c` is not here: a result names it"):
        dumbbell.run(scenario)
    write_files(tmp_path / "work")
    monkeypatch.chdir(tmp_path / "work")
    assert [group["cc"] for group in dumbbell.run(scenario).groups] == ["reno", "mine", "mine"]


# What the version before wrote.


@pytest.mark.parametrize(
    "words",
    [
        ("report", "run"),
        ("report", "sweep"),
        ("compare", "sweep", "sweep"),
        ("plot", "sweep", "--metric", "share"),
        ("report", "export", "run", "--csv"),
    ],
)
def test_results_without_sources_are_read_too(tmp_path, cli, monkeypatch, words):
    shutil.copytree(OLD, tmp_path / "old")
    monkeypatch.chdir(tmp_path / "old")
    monkeypatch.setattr(foreign_process, "follow", None)
    outcome = cli(*words)
    assert outcome.code == 0, outcome.err
    assert Run.load("run").groups[0]["goodput_bps"] > 0
    assert str(SweepResult.load("sweep").scenario.groups[1].cc) == "cubic:beta=717"


def test_results_without_sources_ask_for_the_file(tmp_path, cli, monkeypatch):
    shutil.copytree(OLD, tmp_path / "old")
    monkeypatch.chdir(tmp_path / "old")
    shutil.copyfile(ROOT / "cc/reno.bpf.c", "mine.bpf.c")
    outcome = cli("sweep", "--resume", "sweep")
    assert outcome.code == 2
    assert "does not say which source `./mine.bpf.c` had" in outcome.err
    assert "--cc" in outcome.err
    assert cli("sweep", "--resume", "sweep", "--trust").code == 2
    assert cli("sweep", "--resume", "sweep", "--cc", "mine.bpf.c").code == 0
    # The build depends on the compiler, and on the headers of this version.
    outcome = cli("archive", "run", "-o", "run.tar.zst")
    assert outcome.code == 0 or "has changed since the runs: they used build" in outcome.err


# Directories from strangers.


def nested(depth: int) -> bytes:
    return b"[" * depth + b"]" * depth


DAMAGE = {
    "nested too deeply for Python": (nested(20_000), "nests too deeply"),
    "nested": (b'{"schema_version": ' + nested(200) + b"}", "nests too deeply"),
    "not text": (b"\xff\xfe", "not JSON: byte 0 is not UTF-8 text"),
    "cut": (b'{"schema_version": 1,\n "engine"', "not JSON: line 2, column 10 cannot be read"),
    "digits": (b'{"seed": ' + b"9" * 5000 + b"}", "a number has too many digits"),
    "not a number": (b'{"seed": NaN}', "`NaN` is not a number"),
    "a list": (b"[]", "is not a run"),
    "empty": (b'{"schema_version": 1}', "`scenario` is missing; copy it again, or repeat the run"),
}


@pytest.mark.parametrize("how", DAMAGE)
def test_a_damaged_document_is_named(tmp_path, cli, how):
    content, says = DAMAGE[how]
    shutil.copytree(OLD / "run", tmp_path / "run")
    (tmp_path / "run/run.json").write_bytes(content)
    for words in (("report",), ("report", "export", "--csv"), ("compare", str(tmp_path / "run"))):
        outcome = cli(*words, str(tmp_path / "run"))
        assert outcome.code == 2
        assert outcome.err.count("\n") == 1
        assert "run.json" in outcome.err
        assert says in outcome.err


CHANGES = {
    "flows[0].sent_pkts": lambda d: d["flows"][0].update(sent_pkts="many"),
    "flows[0].goodput_bps": lambda d: d["flows"][0].pop("goodput_bps"),
    "flows[1].group": lambda d: d["flows"][1].update(group=7),
    "bottleneck.forwarded_bytes": lambda d: d["bottleneck"].update(forwarded_bytes=[]),
    "groups[0].params": lambda d: d["groups"][0].update(params=3),
    "scenario.group[1].cc": lambda d: d["scenario"]["group"][1].update(cc=None),
    "scenario.group": lambda d: d["scenario"].update(group={}),
    "warp": lambda d: d["scenario"].update(warp="9"),
    "rate `fast`": lambda d: d["scenario"].update(rate="fast"),
    "groups[0].cc": lambda d: d["groups"][0].update(cc="\x1b[2Jreno"),
    "congestion control `": lambda d: d["scenario"]["group"][0].update(cc="./\x1b[2J.c"),
    "groups[1].declared.ops": lambda d: d["groups"][1].update(declared={"ops": "all"}),
    "groups[1].declared.series[0].unit": lambda d: d["groups"][1].update(
        declared={"ops": [], "parameters": [], "series": [{"name": "x", "unit": 3, "doc": ""}]}
    ),
    "invalid congestion control": lambda d: d["scenario"]["group"][0].update(cc="copa:a=b"),
}


@pytest.mark.parametrize("what", CHANGES)
def test_a_document_with_something_else_in_it_is_named(tmp_path, what):
    shutil.copytree(OLD / "run", tmp_path / "run")
    path = tmp_path / "run/run.json"
    document = json.loads(path.read_text())
    CHANGES[what](document)
    path.write_text(json.dumps(document))
    with pytest.raises(ResultError) as raised:
        Run.load(tmp_path / "run")
    message = str(raised.value)
    assert "run.json is damaged" in message
    assert what in message
    assert "\n" not in message


def fifo(path: Path) -> None:
    os.mkfifo(path)


def endless(path: Path) -> None:
    path.symlink_to("/dev/zero")


def sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(1 << 40)


@pytest.mark.parametrize(
    ("put", "says"),
    [
        (fifo, "is not a regular file but a named pipe"),
        (endless, "is not a regular file but a device"),
        (sparse, "has 1,099,511,627,776 bytes; use at most "),
        (Path.mkdir, "is a directory"),
    ],
)
def test_a_file_that_does_not_end_is_not_read(tmp_path, put, says):
    shutil.copytree(OLD, tmp_path / "old")
    for name in ("run/run.json", "sweep/sweep.json"):
        path = tmp_path / "old" / name
        path.unlink()
        put(path)
        with pytest.raises(ResultError, match=says):
            (Run if "run" in name else SweepResult).load(path.parent)
    table = tmp_path / "old/run/flows.parquet"
    shutil.copyfile(OLD / "run/run.json", unlinked(tmp_path / "old/run/run.json"))
    put(unlinked(table))
    if put is not sparse:
        with pytest.raises(ResultError, match=says):
            Run.load(table.parent).flows  # noqa: B018 (it is read when asked for)


def unlinked(path: Path) -> Path:
    if path.is_dir():
        path.rmdir()
    else:
        path.unlink()
    return path


@pytest.mark.parametrize("put", [fifo, endless, sparse])
@pytest.mark.parametrize("name", ["run.json", "provenance.json", "measures.json", "flows.parquet"])
def test_a_cache_entry_that_does_not_end_is_run_again(tmp_path, put, name):
    sweep = Sweep(dumbbell.Scenario(["reno"], time="1s"), {})
    first = sweep.run(cache=tmp_path / "cache", out=tmp_path / "first")
    (path,) = (tmp_path / "cache").rglob(name)
    put(unlinked(path))
    again = sweep.run(cache=tmp_path / "cache", out=tmp_path / "again")
    assert again.rows.equals(first.rows)


# What a killed process left.


def test_what_a_killed_sweep_left_is_removed_and_nothing_else(tmp_path, caplog):
    sweep = Sweep(dumbbell.Scenario(["reno"], time="1s", sample="0s"), {})
    sweep.run(cache=False, out=tmp_path / "out")
    runs = tmp_path / "out/runs"
    script = (
        "import sys, time; from pathlib import Path; from dumbbell.base.writing import Batch\n"
        "with Batch(Path(sys.argv[1])) as batch, batch.new('unfinished') as path:\n"
        "    path.mkdir(); print(batch.scratch, flush=True); time.sleep(600)\n"
    )
    where = {**os.environ, "PYTHONPATH": str(Path(dumbbell.__file__).parents[1])}
    with subprocess.Popen(
        [sys.executable, "-c", script, str(runs)], stdout=subprocess.PIPE, text=True, env=where
    ) as writer:
        assert writer.stdout is not None
        left = Path(writer.stdout.readline().strip())
        Sweep.resume(tmp_path / "out").run(cache=False, out=tmp_path / "out")
        assert left.is_dir()  # its process is still writing
        writer.send_signal(signal.SIGKILL)
    assert left.is_dir()
    by_others = runs / ".dumbbell-notes"
    by_others.mkdir()
    by_an_earlier_version = runs / ".dumbbell-0123456789abcdef"
    by_an_earlier_version.mkdir()
    with Batch(runs) as ours:
        assert "removed `" in caplog.text
        assert "left by a command that was killed while it wrote `unfinished`" in caplog.text
        Sweep.resume(tmp_path / "out").run(cache=False, out=tmp_path / "out")
        assert ours.scratch.is_dir()
    assert not left.exists()
    assert not by_an_earlier_version.exists()
    assert by_others.is_dir()


def test_odd_includes_and_links_to_themselves_are_no_sources(tmp_path: Path) -> None:
    source = tmp_path / "mine.bpf.c"
    source.write_text('#if 0\n#include "/"\n#include ".."\n#include "loop.h"\n#endif\n')
    (tmp_path / "loop.h").symlink_to("loop.h")
    assert sources_of_file(source).digests.keys() == {"mine.bpf.c"}
    module = tmp_path / "mine.py"
    module.write_text("import package\n")
    (tmp_path / "package").mkdir()
    (tmp_path / "package/__init__.py").write_text("")
    (tmp_path / "package/loop.py").symlink_to("loop.py")
    assert sources_of_file(module).digests.keys() == {"mine.py", "package/__init__.py"}


#: By what is wrong: the table, the column, a value of it, its type, and what the error says.
TABLES: dict[str, tuple[str, str, Any, pa.DataType, str]] = {
    "a flow that is not there": ("flows", "flow", 2, pa.uint32(), "values that the run cannot"),
    "a negative flow": ("flows", "flow", -1, pa.int64(), "values that the run cannot have"),
    "a flow as a fraction": ("flows", "flow", 0.5, pa.float64(), "type double, not uint32"),
    "text for a count": ("flows", "cwnd_pkts", "1", pa.string(), "type string, not uint32"),
    "a list": ("flows", "rtt_us", [1], pa.list_(pa.int64()), "type list<element: int64>, not"),
    "another state": ("flows", "ca_state", "happy", pa.string(), "`happy`, which no run has"),
    "a number for a state": ("flows", "ca_state", 2**62, pa.int64(), "type int64, not string"),
    "no state": ("flows", "ca_state", None, pa.string(), "has gaps"),
    "a number for a link": ("queue", "link", 0, pa.int64(), "type int64, not string"),
    "another link": ("queue", "link", "b", pa.string(), "`b`, which no run has"),
    "text for a backlog": ("queue", "backlog_bytes", "1", pa.string(), "not uint64"),
    "a statistic as a list": ("queue", "more", [1], pa.list_(pa.int64()), "is of the type list"),
    "a group that is not there": ("queue_by_group", "group", 2, pa.uint32(), "cannot have"),
    "a link of a group": ("queue_by_group", "link", 1, pa.int64(), "type int64, not string"),
    "a state of no flow": ("state-0-copa", "flow", 2, pa.uint32(), "cannot have"),
    "a state as lists": ("state-0-copa", "mode", ["a"], pa.list_(pa.string()), "type list"),
    "a state as objects": ("state-0-copa", "delta", {"a": 1}, pa.struct({"a": pa.int64()}), "type"),
    "a state for a terminal": ("state-0-copa", "mode", "\x1b[2J", pa.string(), "`\\x1b[2J`"),
}


def with_column(path: Path, name: str, values: pa.Array) -> None:
    """Replace a column of a table, or add one."""
    table = pq.read_table(path)
    if name in table.column_names:
        table = table.set_column(table.column_names.index(name), name, values)
    else:
        table = table.append_column(name, values)
    pq.write_table(table, path)


@pytest.fixture(scope="module")
def saved(tmp_path_factory) -> Path:
    """A run with every table of time series."""
    place: Path = tmp_path_factory.mktemp("saved") / "run"
    return dumbbell.run(["copa", "cubic"], time="1s").save(place)


@pytest.mark.parametrize("what", TABLES)
def test_a_table_that_no_run_has_is_named(saved, tmp_path, cli, what):
    name, column, value, kind, says = TABLES[what]
    shutil.copytree(saved, tmp_path / "run")
    path = tmp_path / f"run/{name}.parquet"
    rows = pq.read_metadata(path).num_rows
    with_column(path, column, pa.array([value] * rows, kind))
    for command in (("report",), ("plot", "--series", "cwnd"), ("report", "export", "--csv")):
        outcome = cli(*command, str(tmp_path / "run"))
        assert outcome.code == 2
        assert outcome.err.startswith(f"error: {path}: is damaged: its column `{column}` ")
        assert says in outcome.err
        assert outcome.err.count("\n") == 1


@pytest.mark.parametrize("column", ["time_us", "rtt_us"])
def test_a_table_without_a_column_is_named(saved, tmp_path, cli, column):
    shutil.copytree(saved, tmp_path / "run")
    path = tmp_path / "run/flows.parquet"
    pq.write_table(pq.read_table(path).drop_columns([column]), path)
    outcome = cli("report", str(tmp_path / "run"))
    assert outcome.code == 2
    assert f"flows.parquet: is damaged: has no column `{column}`" in outcome.err


def test_the_largest_counts_are_drawn(saved, tmp_path, cli):
    """More than a float holds exactly, as an algorithm's own 64 bits may be."""
    shutil.copytree(saved, tmp_path / "run")
    for name, column in (("state-0-copa", "delta"), ("flows", "goodput_bps")):
        path = tmp_path / f"run/{name}.parquet"
        rows = pq.read_metadata(path).num_rows
        with_column(path, column, pa.array([2**62] * rows, pa.uint64()))
    assert cli("report", str(tmp_path / "run")).code == 0
    series = ("plot", str(tmp_path / "run"), "--series", "delta")
    assert cli(*series).code == 0


TIMES: dict[str, tuple[list[int | None], str]] = {
    "in another order": ([2, 1], "is not in order"),
    "before the run": ([-1, 1], "has values that the run cannot have"),
    "after its end": ([1, 10**15], "has values that the run cannot have"),
    "missing": ([1, None], "has gaps"),
}


@pytest.mark.parametrize("what", TIMES)
def test_times_that_are_not_the_run_s_are_damage(saved, tmp_path, cli, what):
    (first, last), says = TIMES[what]
    shutil.copytree(saved, tmp_path / "run")
    path = tmp_path / "run/flows.parquet"
    rows = pq.read_metadata(path).num_rows
    with_column(path, "time_us", pa.array([first, *[1] * (rows - 2), last], pa.int64()))
    outcome = cli("report", str(tmp_path / "run"))
    assert outcome.code == 2
    assert f"flows.parquet: is damaged: its column `time_us` {says}" in outcome.err


ROWS: dict[str, tuple[str, Any, pa.DataType, str]] = {
    "a cell that is not there": ("cell", 7, pa.int64(), "has values that the run cannot have"),
    "text for a cell": ("cell", "0", pa.string(), "is of the type string, not int64"),
    "a number for a name": ("cc", 1, pa.int64(), "is of the type int64, not string"),
    "text for a metric": ("jain", "1", pa.string(), "is of the type string, not double"),
    "a list": ("share", [1.0], pa.list_(pa.float64()), "not double"),
    "no group": ("group", None, pa.int64(), "has gaps"),
}


@pytest.mark.parametrize("what", ROWS)
def test_rows_that_no_sweep_has_are_named(tmp_path, cli, what):
    column, value, kind, says = ROWS[what]
    shutil.copytree(OLD / "sweep", tmp_path / "sweep")
    path = tmp_path / "sweep/rows.parquet"
    with_column(path, column, pa.array([value] * pq.read_metadata(path).num_rows, kind))
    for command in (("report",), ("plot", "--metric", "jain"), ("report", "export", "--csv")):
        outcome = cli(*command, str(tmp_path / "sweep"))
        assert outcome.code == 2
        assert outcome.err.startswith(f"error: {path}: is damaged: its column `{column}` ")
        assert says in outcome.err
        assert outcome.err.count("\n") == 1


ANALYSES: dict[str, tuple[str, str, Any, pa.DataType]] = {
    "text for a number": ("connections", "connection", "0", pa.string()),
    "a number for a point": ("connections", "point", 0, pa.int64()),
    "a number for a flag": ("connections", "is_initiator", 2**62, pa.int64()),
    "a list of times": ("series", "time_us", [1.0], pa.list_(pa.float64())),
    "no time": ("series", "time_us", None, pa.float64()),
}


@pytest.fixture(scope="module")
def analysed(tmp_path_factory) -> Path:
    place: Path = tmp_path_factory.mktemp("analysed")
    assert invoke(["run", "copa", "--time", "1s", "--capture", "--out", str(place / "run")]) == 0
    assert invoke(["analyze", str(place / "run"), "--out", str(place / "analysis")]) == 0
    return place / "analysis"


@pytest.mark.parametrize("what", ANALYSES)
def test_an_analysis_that_is_none_of_ours_is_named(analysed, tmp_path, cli, what):
    name, column, value, kind = ANALYSES[what]
    shutil.copytree(analysed, tmp_path / "analysis")
    path = tmp_path / f"analysis/{name}.parquet"
    with_column(path, column, pa.array([value] * pq.read_metadata(path).num_rows, kind))
    for command in ("report", "plot"):
        outcome = cli(command, str(tmp_path / "analysis"))
        assert outcome.code == 2
        assert outcome.err.startswith(f"error: {path}: is damaged: its column `{column}` ")
        assert outcome.err.count("\n") == 1


def test_a_directory_s_name_may_have_any_bytes(tmp_path, cli):
    run, sweep = (tmp_path / os.fsdecode(name) for name in (b"caf\xe9", b"sweep\xff"))
    words = ("copa", "cubic", "--time", "1s")
    assert cli("run", *words, "--capture", "--out", str(run)).code == 0
    assert cli("sweep", *words, "--buffer", "1bdp,2bdp", "--out", str(sweep)).code == 0
    for place in map(str, (run, sweep)):
        commands = (
            ("report", place), ("report", "export", place, "--csv"), ("compare", place, place),
            ("plot", place, "--format", "svg"), ("archive", place, "-o", f"{place}.tar.zst"),
            ("archive", "verify", f"{place}.tar.zst"),
        )  # fmt: skip
        for command in commands:
            outcome = cli(*command)
            assert outcome.code == 0, outcome.err
    outcome = cli("analyze", str(run))
    assert outcome.code == 2
    assert outcome.err.endswith(": its name is not UTF-8; rename it\n")
