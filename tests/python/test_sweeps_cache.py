import errno
import json
import os
import shutil
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import dumbbell
from dumbbell import Scenario, Sweep, _core
from dumbbell.base import writing
from dumbbell.base.scratch import scratch_in
from dumbbell.base.writing import Batch
from dumbbell.congestion_control.isolation.sandbox import UNSAFE
from dumbbell.run.capture import Capture
from dumbbell.runs import Cache, record_directory
from dumbbell.runs.inventory import prune, take_inventory, verify
from dumbbell.runs.key import run_key

SCENARIO = Scenario(["copa", "cubic"], time="1s", rate="10mbit")
SWEEP = Sweep(SCENARIO, {"buffer": "1..2bdp"}, reps=2)


class Counted:
    """The engine, and how often it ran."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.runs, self.run = 0, _core.run
        monkeypatch.setattr(_core, "run", self)

    def __call__(self, *arguments: Any) -> Any:
        self.runs += 1
        return self.run(*arguments)


@pytest.fixture
def engine(monkeypatch):
    return Counted(monkeypatch)


@pytest.fixture
def cache(tmp_path):
    return Cache(tmp_path / "cache")


def entries(cache: Cache) -> list[Path]:
    with_series = [path.parent for path in cache.place.rglob("run.json")]
    return sorted([*with_series, *cache.place.rglob("*.jsonl")])


def test_a_repeat_runs_nothing_and_says_the_same(engine, cache):
    first = SWEEP.run(cache=cache)
    assert engine.runs == 4
    again = SWEEP.run(cache=Cache(cache.place))
    assert engine.runs == 4
    assert again.rows.equals(first.rows)
    assert again.runs[1, 1].to_json() == first.runs[1, 1].to_json()
    more = Sweep(SCENARIO, {"buffer": "1..4bdp"}, reps=2).run(cache=cache)
    assert engine.runs == 6  # those of the new cell alone
    assert more.rows.slice(0, 8).equals(first.rows)


def test_time_series_are_kept_where_they_are_wanted(engine, cache, tmp_path):
    SWEEP.run(cache=cache)
    assert not list(cache.place.rglob("*.parquet"))
    first = SWEEP.run(cache=cache, out=tmp_path / "one")
    assert engine.runs == 8  # those in the cache had no series
    second = SWEEP.run(cache=cache, out=tmp_path / "two")
    assert engine.runs == 8
    assert second.runs[0, 1].flows.equals(first.runs[0, 1].flows)
    for path in (tmp_path / "one").rglob("*.*"):
        other = tmp_path / "two" / path.relative_to(tmp_path / "one")
        assert path.is_dir() or path.read_bytes() == other.read_bytes()


def test_other_words_for_the_same_buffer_find_the_run_in_their_own(engine, cache):
    in_bdp = Sweep(SCENARIO, {"buffer": ["2bdp"]}).run(cache=cache)
    in_bytes = Sweep(SCENARIO, {"buffer": ["100kB"]}).run(cache=cache)
    assert engine.runs == 1
    assert str(in_bytes.runs[0, 0].scenario.buffer) == "100kB"
    assert in_bytes.runs[0, 0].groups == in_bdp.runs[0, 0].groups


def test_another_warm_up_is_measured_again(engine, cache):
    whole = SWEEP.run(cache=cache)
    late = Sweep(SCENARIO, {"buffer": "1..2bdp"}, reps=2, warmup="500ms").run(cache=cache)
    assert engine.runs == 8  # without their series they must run again
    assert not late.rows.equals(whole.rows)
    for warmup in (None, "500ms"):
        Sweep(SCENARIO, {"buffer": "1..2bdp"}, reps=2, warmup=warmup).run(cache=cache)
    assert engine.runs == 8  # both are known now
    assert (late.plan.warmup, whole.plan.warmup) == ("500ms", None)


@pytest.mark.parametrize("name", ["run.json", "provenance.json", "flows.parquet"])
@pytest.mark.parametrize("damage", ["cut", "foreign", "other version", "gone"])
def test_what_is_damaged_runs_again_and_is_mended(engine, cache, tmp_path, name, damage):
    one = Sweep(SCENARIO, {})
    first = one.run(cache=cache, out=tmp_path / "first")
    (entry,) = entries(cache)
    path = entry / name
    content = {
        "cut": path.read_bytes()[:-9], "foreign": b"PK\3\4 no run",
        "other version": b'{"schema_version": 99, "format": 99}', "gone": b"",
    }[damage]  # fmt: skip
    path.unlink()  # the series are linked to those in `first`
    if damage != "gone":
        path.write_bytes(content)
    again = one.run(cache=(second := Cache(cache.place)), out=tmp_path / "second")
    assert engine.runs == 2
    assert again.rows.equals(first.rows)
    assert len(second.notes) <= 1
    assert verify(cache) == (1, [])
    one.run(cache=cache, out=tmp_path / "third")
    assert engine.runs == 2


def test_measures_that_are_damaged_are_never_taken(engine, cache, tmp_path):
    one = Sweep(SCENARIO, {})
    first = one.run(cache=cache)
    (entry,) = entries(cache)
    entry.write_text(entry.read_text().replace('"jain":0.', '"jain":7.', 1))
    assert verify(cache) == (1, [f"{entry}: is damaged"])
    assert one.run(cache=cache).rows.equals(first.rows)
    assert engine.runs == 2  # there is no series to measure again
    assert verify(cache) == (1, [])


def held(window: int) -> str:
    return f"    def cong_avoid(self, sk, ack, acked): sk.snd_cwnd = {window}\n"


def goodputs(cc: Any, cache: Cache) -> list[float]:
    rows = Sweep(Scenario([cc], time="1s", rate="10mbit"), {}).run(cache=cache).rows
    assert rows["cc"].to_pylist() == [str(Scenario([cc]).groups[0].cc)]
    goodput_bps: list[float] = rows["goodput_bps"].to_pylist()
    return goodput_bps


def test_each_congestion_control_of_a_file_has_runs_of_its_own(cache, tmp_path):
    file = tmp_path / "two.py"
    text = "import dumbbell\n"
    for name, window in (("Two", 2), ("Twenty", 20)):
        text += f"class {name}(dumbbell.CongestionControl):\n{held(window)}"
    file.write_text(text)
    slow, fast = (goodputs(f"{file}#{name}", cache) for name in ("Two", "Twenty"))
    assert slow < fast
    assert goodputs(f"{file}#Two", cache) == slow
    assert cache.hits == 1
    file.write_text(text.replace("snd_cwnd = 2\n", "snd_cwnd = 4\n"))
    assert slow < goodputs(f"{file}#Two", cache) < fast


def test_a_file_is_run_again_when_a_module_that_it_imports_changes(cache, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    module, file = tmp_path / "windows_of_mine.py", tmp_path / "mine.py"
    file.write_text(
        "import dumbbell\nfrom windows_of_mine import WINDOW\n"
        f"class Mine(dumbbell.CongestionControl):\n{held(0).replace('= 0', '= WINDOW')}"
    )
    module.write_text("WINDOW = 2\n")
    slow = goodputs(str(file), cache)
    module.write_text("WINDOW = 20\n")
    assert goodputs(str(file), cache) > slow


def test_a_module_that_is_built_in_is_in_the_key(tmp_path):
    for name in ("tcp_yeah.c", "tcp_vegas.h", "tcp_vegas.c"):
        (tmp_path / name).write_text('#include "tcp_vegas.h"\n')
    scenario = Scenario([f"{tmp_path}/tcp_yeah.c"])
    before = run_key(scenario, "simulator")
    assert run_key(scenario, "simulator") == before
    (tmp_path / "tcp_vegas.c").write_text("/* changed */\n")
    assert run_key(scenario, "simulator") != before


def test_a_class_of_the_program_is_never_found_again(cache):
    def made(window: int) -> type:
        class Held(dumbbell.CongestionControl):
            def cong_avoid(self, sk, _ack, _acked):
                sk.snd_cwnd = window

        return Held

    # Same name, same text; what differs is in the program.
    slow, fast = (goodputs(made(window), cache) for window in (2, 20))
    assert slow < fast
    assert not entries(cache)
    result = Sweep(Scenario([made(2)], time="1s"), {}).run(cache=cache)
    assert result.runs[0, 0].groups[0]["cc"] == "held"


def test_the_same_file_elsewhere_is_found_under_its_own_name(cache, tmp_path):
    for place in ("a", "b"):
        (tmp_path / place).mkdir()
        text = f"import dumbbell\nclass Mine(dumbbell.CongestionControl):\n{held(4)}"
        (tmp_path / place / "mine.py").write_text(text)
    assert goodputs(f"{tmp_path}/a/mine.py", cache) == goodputs(f"{tmp_path}/b/mine.py", cache)
    assert cache.hits == 1


def test_a_key_of_another_run_is_no_hit(engine, cache):
    SWEEP.run(cache=cache)
    first, second, *_ = entries(cache)
    shutil.copyfile(second, first)
    SWEEP.run(cache=cache)
    assert engine.runs == 5


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EROFS, errno.EACCES])
def test_a_cache_that_cannot_be_written_is_a_note(engine, cache, monkeypatch, code):
    def fail(*_arguments, **_options):
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(Path, "write_bytes", fail)
    result = SWEEP.run(cache=cache)
    assert result.notes == (
        f"{cache.place}: the cache cannot be written: {os.strerror(code).lower()}; "
        "continuing without it",
    )
    assert len(result.runs) == 4
    assert result.runs[1, 1].groups
    assert not list(cache.place.rglob(".dumbbell-*"))


def test_a_cache_below_a_file_is_a_note(cli, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("mine")
    monkeypatch.setenv("DUMBBELL_CACHE", str(tmp_path / "file" / "cache"))
    outcome = cli("sweep", "reno", "--time", "1s", "--buffer", "1..2bdp")
    assert outcome.code == 0
    assert outcome.err.count("note:") == outcome.err.count("\n") == 1
    assert "the cache cannot be written: not a directory; continuing" in outcome.err


def test_two_sweeps_share_a_cache(cache):
    sweep = Sweep(SCENARIO, {"buffer": "1..8bdp"}, reps=3)
    with ThreadPoolExecutor(4) as pool:
        results = [pool.submit(sweep.run, cache=Cache(cache.place)) for _ in range(4)]
        first, *others = [result.result() for result in results]
    assert all(other.rows.equals(first.rows) for other in others)
    assert len(entries(cache)) == 12
    assert verify(cache) == (12, [])
    assert not list(cache.place.rglob(".dumbbell-*"))


def test_runs_on_the_kernel_are_measured_each_time_unless_asked(fabricated_kernel, cache):
    sweep = Sweep(Scenario(["linux/cubic"], time="1s"), {}, engine="kernel")
    sweep.run()
    sweep.run()
    assert fabricated_kernel.runs == 2
    sweep.run(cache=cache)
    sweep.run(cache=cache)
    assert fabricated_kernel.runs == 3


def test_a_captured_run_is_run(engine, cache, tmp_path):
    one = Sweep(SCENARIO, {})
    one.run(cache=cache, out=tmp_path / "plain")
    settings = Capture("capture.pcapng", points=["sender"])
    result = one.run(cache=cache, out=tmp_path / "captured", capture=settings)
    assert engine.runs == 2
    assert result.runs[0, 0].capture is not None
    one.run(cache=cache, out=tmp_path / "captured", capture=settings)
    assert engine.runs == 2  # it is there


def test_reproductions_and_comparisons_use_it(cli, engine, tmp_path, monkeypatch):
    monkeypatch.setenv("DUMBBELL_CACHE", str(tmp_path / "cache"))
    compare = ("model", "compare", "mathis", "--buffer", "1bdp", "--flows", "1", "--time", "10s",
               "--last", "5s", "--json")  # fmt: skip
    first = cli(*compare)
    assert first.code == 0, first.err
    runs = engine.runs
    assert cli(*compare).out == first.out
    assert engine.runs == runs
    assert cli(*compare, "--no-cache").out == first.out
    assert engine.runs == 2 * runs


def test_it_can_be_shown_verified_and_pruned(cli, cache, monkeypatch, tmp_path):
    monkeypatch.setenv("DUMBBELL_CACHE", str(cache.place))
    shown = cli("cache").out
    assert shown.startswith(f"{cache.place} (as $DUMBBELL_CACHE says)\n")
    assert shown.endswith("0 runs, 0 B\n")
    SWEEP.run(cache=cache, out=tmp_path / "out")
    bystander = cache.place / "notes.txt"
    bystander.write_text("mine")
    inventory = json.loads(cli("cache", "--json").out)
    assert (inventory["entries"], inventory["engines"][0]["with_series"]) == (4, 4)
    assert inventory["engines"][0]["engine_version"] == dumbbell.__version__
    (entries(cache)[0] / "run.json").write_text("{}")
    outcome = cli("cache", "verify")
    assert outcome.code == 1
    assert "run.json: is damaged" in outcome.err
    assert cli("cache", "verify", "--remove").out == "4 runs, 1 damaged, removed\n"
    assert "removed 0 runs, 0 B; 3 left" in cli("cache", "prune", "--older-than", "30d").out
    oldest = entries(cache)[-1]
    long_ago = time.time() - 40 * 86400
    os.utime(oldest / "provenance.json", (long_ago, long_ago))
    assert "removed 1 run, " in cli("cache", "prune", "--older-than", "30d").out
    assert not oldest.exists()
    assert cli("cache", "prune", "--all").out.endswith("0 left, 0 B\n")
    assert bystander.read_text() == "mine"
    assert "use `30d`" in cli("cache", "prune", "--older-than", "soon").err


def test_a_prune_that_names_nothing_is_a_line(cli, cache, monkeypatch):
    monkeypatch.setenv("DUMBBELL_CACHE", str(cache.place))
    SWEEP.run(cache=cache)
    outcome = cli("cache", "prune")
    assert (outcome.code, outcome.err.count("\n")) == (2, 1)
    for option in ("--older-than", "--max-size", "--all"):
        assert option in outcome.err
    assert take_inventory(cache).entries == 4


def test_the_cache_of_a_user_who_named_none(cli, monkeypatch, tmp_path):
    monkeypatch.delenv("DUMBBELL_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    place = tmp_path / "dumbbell"
    assert cli("cache").out.startswith(f"{place} ($DUMBBELL_CACHE names another)\n")


def test_the_least_recently_used_go_first(cache):
    SWEEP.run(cache=cache)
    for at, entry in enumerate(entries(cache)):
        os.utime(entry, (at, at))
    wanted = take_inventory(cache).size_bytes * 3 // 4
    *_, newest = entries(cache)
    assert prune(cache, max_bytes=wanted).left >= 2
    assert newest.exists()


def test_killed_writers_leave_nothing_that_is_found(cache):
    SWEEP.run(cache=cache)
    half = cache.entries / ".dumbbell-0123456789abcdef" / "new"
    half.mkdir(parents=True)
    (half / "run.json").write_text("{")
    inventory = take_inventory(cache)
    assert (inventory.entries, inventory.left) == (4, 1)
    with Batch(cache.entries, is_lasting=False) as being_written:
        prune(cache)
        assert being_written.scratch.is_dir()
    assert not half.exists()


def test_entries_of_another_layout_are_not_read_and_pruned_alone(engine, cache):
    SWEEP.run(cache=cache)
    (cache.place / "v3").rename(cache.place / "v2")
    SWEEP.run(cache=cache)
    assert engine.runs == 8
    prune(cache)
    assert not (cache.place / "v2").exists()
    assert len(entries(cache)) == 4


def test_a_run_with_series_takes_the_place_of_one_without(engine, cache, tmp_path):
    one = Sweep(SCENARIO, {})
    late = Sweep(SCENARIO, {}, warmup="500ms")
    one.run(cache=cache)
    late.run(cache=cache)
    one.run(cache=cache, out=tmp_path / "out")
    assert engine.runs == 3
    (entry,) = entries(cache)
    assert (entry / "flows.parquet").is_file()
    one.run(cache=cache)
    late.run(cache=cache)  # what was measured of it is kept
    assert engine.runs == 3


def test_a_run_that_is_pruned_while_it_is_copied_runs_again(engine, cache, tmp_path, monkeypatch):
    SWEEP.run(cache=cache, out=tmp_path / "first")
    fill = record_directory.fill

    def prune_and_fill(new: Path, record: Any, **how: Any) -> None:
        if record.place is not None and record.place.is_relative_to(cache.place):
            shutil.rmtree(record.place)
        fill(new, record, **how)

    monkeypatch.setattr(record_directory, "fill", prune_and_fill)
    again = SWEEP.run(cache=cache, out=tmp_path / "again")
    assert len(again.runs) == 4
    assert all(run.flows.num_rows for run in again.runs.values())


def test_a_sweep_writes_to_the_cache_through_one_scratch_directory(cache, monkeypatch):
    made: list[Path] = []

    def counted(parent: Path) -> Any:
        made.append(parent)
        return scratch_in(parent)

    monkeypatch.setattr(writing, "scratch_in", counted)
    SWEEP.run(cache=cache)
    SWEEP.run(cache=cache)
    assert made == [cache.entries]  # none where every run is found
    assert not list(cache.place.rglob(".dumbbell-*"))


def test_one_run_in_several_words_is_written_once_at_a_time(cache):
    alike = ["1bdp", "50kB", "2bdp", "100kB"]
    result = Sweep(SCENARIO, {"buffer": alike}, reps=3).run(cache=cache, jobs=8)
    assert len(result.runs) == 12
    assert result.notes == ()
    assert len(entries(cache)) == 6
    assert not list(cache.place.rglob(".dumbbell-*"))


def test_a_killed_prune_leaves_nothing_that_stays(cache, monkeypatch):
    SWEEP.run(cache=cache)
    with monkeypatch.context() as killed:
        killed.setattr(shutil, "rmtree", lambda _path, **_how: None)
        prune(cache, everything=True)
    (left, *_) = found = list(cache.place.rglob(".dumbbell-*"))
    assert len(found) == 4
    assert left.parent == cache.entries
    SWEEP.run(cache=cache)
    assert prune(cache, everything=True).entries == 4
    prune(cache)
    assert not list(cache.place.rglob(".dumbbell-*"))


def test_confinement_counts(tmp_path, monkeypatch):
    """A file that may read the user's files may behave differently."""
    source = tmp_path / "mine.bpf.c"
    source.write_text((Path(__file__).parents[2] / "cc/reno.bpf.c").read_text())
    scenario = Scenario([str(source)], time="1s")
    confined = run_key(scenario, "simulator")
    monkeypatch.setenv(UNSAFE, "1")
    assert run_key(scenario, "simulator") != confined
