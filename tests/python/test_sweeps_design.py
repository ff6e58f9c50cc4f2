import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dumbbell import Group, Scenario, ScenarioError, Sweep
from dumbbell.cli.axes import other_axes
from dumbbell.runs.key import run_key
from dumbbell.sweeps.design import Design, label_of, make_design

BASE = Scenario(["copa", Group("cubic", 2)], time="5s", seed=7)


def labels(design: Design) -> list[str]:
    return [cell.label for cell in design.cells]


def test_axes_are_crossed_the_last_one_fastest():
    design = make_design(BASE, {"buffer": "1..2bdp", "flows": [1, 4]})
    assert labels(design) == [
        "buffer=1bdp,flows=1", "buffer=1bdp,flows=4", "buffer=2bdp,flows=1", "buffer=2bdp,flows=4",
    ]  # fmt: skip
    buffer, flows = design.axes
    assert (buffer.unit, buffer.numbers, buffer.number_column) == ("bdp", (1, 2), "buffer_bdp")
    assert (flows.unit, flows.column) == (None, "axis_flows")
    assert [group.flows for group in design.scenario_of(design.cells[1]).groups] == [4, 4]


def test_zipped_axes_change_together():
    axes = {"rate": "10mbit,20mbit", "rtt": "80ms,40ms", "flows": "1,2"}
    design = make_design(BASE, axes, [("rate", "rtt")])
    assert design.shape == (2, 2)
    assert labels(design)[2] == "rate=20mbit,rtt=40ms,flows=1"
    with pytest.raises(ScenarioError, match="`rate` has 2, `flows` has 3 values"):
        make_design(BASE, {"rate": "10mbit,20mbit", "flows": "1,2,4"}, [("rate", "flows")])


@pytest.mark.parametrize(
    ("name", "values", "found"),
    [
        ("1.cc", "cubic,bbr:extra_acked_gain=0,min_rtt_tie_renews=1,reno",
         lambda s: str(s.groups[1].cc)),
        ("copa.mode_window_rtts", "2..8", lambda s: s.groups[0].cc.params["mode_window_rtts"]),
        ("cubic.beta", "0.6,0.8", lambda s: s.groups[1].cc.params["beta"]),
        ("cubic.flows", [3], lambda s: s.groups[1].flows),
        ("0.rtt", ["10ms"], lambda s: s.groups[0].rtt),
        ("tso", ["false"], lambda s: s.groups[1].tso),
        ("rate_steps", "1s:5mbit;1s:5mbit, 2s:9mbit", lambda s: s.rate_steps),
        ("jitter", "0ms,50ms", lambda s: s.groups[0].jitter),
        ("rwnd", "1MiB,2MiB", lambda s: s.groups[1].rwnd),
        ("time", "1s,2s", lambda s: s.time),
        ("trace", "cellular:rate=6mbit,seed=2,poisson:rate=3mbit", lambda s: s.trace),
        ("impair", "random_loss:loss=1%+corrupt:probability=1%,random_loss:loss=2%",
         lambda s: s.links[0].impair),
        ("link.queue", "codel,fq_codel", lambda s: s.links[0].queue),
    ],
)  # fmt: skip
def test_any_field_is_an_axis(name, values, found):
    design = make_design(BASE, {name: values})
    (axis,) = design.axes
    for cell, label in zip(design.cells, axis.labels, strict=True):
        assert label_of(found(design.scenario_of(cell))) == label


@pytest.mark.parametrize(
    ("axes", "says"),
    [
        ({"bufer": "1bdp"}, "did you mean `buffer`?"),
        ({"seed": "1,2"}, "`seed` cannot be an axis; use `reps`"),
        ({"bbr.flows": "1,2"}, "no group runs `bbr`; the groups are `0` (copa), `1` (cubic)"),
        ({"copa.mode_window": "1,2"}, "did you mean `mode_window_rtts`?"),
        ({"buffer": "1,2"}, "buffer `1` has no unit"),
        ({"buffer": []}, "axis `buffer` has no values"),
        ({"flows": ""}, "axis `flows` has no values"),
        ({"time": "50ms,5s"}, "time=50ms: flows of `copa` may start as late as 100ms"),
        ({"copa.mode_window_rtts": "0,100000"}, "copa.mode_window_rtts="),
    ],
)
def test_what_makes_no_sense_is_a_line(axes, says):
    with pytest.raises(ScenarioError) as caught:
        Sweep(BASE, axes)
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


def test_repetitions_have_the_same_seeds_in_every_cell():
    design = make_design(BASE, {"buffer": "1..8bdp"})
    seeds = {tuple(design.scenario_of(c, rep).seed for rep in range(3)) for c in design.cells}
    assert seeds == {(7, 8, 9)}


values = st.lists(st.integers(1, 64), min_size=1, max_size=5)


@given(buffers=values, flows=values, rtts=values)
@settings(max_examples=40, deadline=None)
def test_every_combination_is_there_once(buffers, flows, rtts):
    axes = {"buffer": [f"{n}bdp" for n in buffers], "copa.flows": flows,
            "rtt": [f"{n}ms" for n in rtts]}  # fmt: skip
    design = make_design(BASE, axes)
    assert len(design.cells) == math.prod(design.shape)
    assert len(set(labels(design))) == len(design.cells)
    assert design.shape == tuple(len(set(each)) for each in (buffers, flows, rtts))
    cell = design.cells[-1]
    scenario = design.scenario_of(cell)
    assert (scenario.buffer, scenario.groups[0].flows, scenario.rtt) == tuple(cell.values.values())


@given(
    kilobytes=st.integers(50, 10**6), rate=st.integers(1, 1000), seed=st.integers(0, 2**64 - 1),
    other=st.integers(0, 2**64 - 1),
)  # fmt: skip
@settings(max_examples=40, deadline=None)
def test_a_key_is_of_what_runs_and_not_of_the_words(kilobytes, rate, seed, other):
    def key(**words: Any) -> str:
        return run_key(Scenario(["copa"], time="5s", **words), "simulator").digest

    plain = key(buffer=f"{kilobytes}kB", rate=f"{rate}mbit", seed=seed)
    assert plain == key(
        buffer=f"{kilobytes * 1000}B", rate=f"{rate * 1000}kbit", seed=seed, name="another"
    )
    assert (plain == key(buffer=f"{kilobytes}kB", rate=f"{rate}mbit", seed=other)) == (
        seed == other
    )
    assert plain != key(buffer=f"{kilobytes + 1}kB", rate=f"{rate}mbit", seed=seed)


def test_a_key_is_of_the_text_of_ones_own_congestion_control(tmp_path):
    header, source = tmp_path / "gain.h", tmp_path / "mine.bpf.c"
    header.write_text("#define GAIN 2\n")
    source.write_text('#include "gain.h"\n')

    def key(path: Path = source) -> str:
        return run_key(Scenario([str(path)], time="5s"), "simulator").digest

    first = key()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    for file in header, source:
        (elsewhere / file.name).write_text(file.read_text())
    assert key(elsewhere / source.name) == first
    # Tables and series have the file's name.
    assert key(source.rename(tmp_path / "other.bpf.c")) != first
    source.write_text('#include "gain.h"\n')
    header.write_text("#define GAIN 3\n")
    assert key() != first
    assert run_key(BASE, "simulator").digest != run_key(BASE, "kernel").digest


def trace_files(place: Path) -> list[str]:
    """Write three traces, of which two have the same name."""
    for name, gap in (("a/lte.down", 2), ("b/lte.down", 5), ("y.down", 3)):
        (place / name).parent.mkdir(exist_ok=True)
        (place / name).write_text("".join(f"{at}\n" for at in range(gap, 1000, gap)))
    return [str(place / name) for name in ("a/lte.down", "b/lte.down", "y.down")]


def test_traces_of_files_are_called_by_their_names_and_kept_whole(tmp_path):
    first, second, third = trace_files(tmp_path)
    scenario = Scenario(["reno"], buffer="50kB", time="1s")
    sweep = Sweep(scenario, {"trace": [first, second, third, "cellular:rate=3mbit"]})
    (axis,) = sweep.design.axes
    assert axis.labels == (first, second, "y.down", "cellular:rate=3mbit")
    assert len({int(cell.links[0].rate) for cell in sweep.scenarios}) == 4, "each has its own"
    result = sweep.run(cache=False, out=tmp_path / "s")
    for name in (first, second, third):
        Path(name).unlink()
    loaded = type(result).load(tmp_path / "s")
    assert loaded.axes[0].labels == axis.labels
    assert [scenario.to_dict() for _, scenario in loaded.design.points] == [
        scenario.to_dict() for _, scenario in result.design.points
    ]
    assert loaded.rows.equals(result.rows)
    assert Sweep.resume(tmp_path / "s").has_all_runs


def test_a_file_s_trace_has_the_same_run_under_any_name(tmp_path):
    scenario = Scenario(["reno"], buffer="50kB", time="1s")
    (named,) = Sweep(scenario, {"trace": trace_files(tmp_path)[2:]}).scenarios
    plain = scenario.replace(trace=str(tmp_path / "y.down"))
    assert named.to_dict() == plain.to_dict()
    assert run_key(named, "simulator").digest == run_key(plain, "simulator").digest


@pytest.mark.parametrize(
    ("given", "axes", "joined"),
    [
        ("rate=5mbit,10mbit+rtt=40ms,20ms", {"rate": "5mbit,10mbit", "rtt": "40ms,20ms"},
         [["rate", "rtt"]]),
        ("impair=random_loss:loss=1%+corrupt:probability=1%",
         {"impair": "random_loss:loss=1%+corrupt:probability=1%"}, []),
        ("1.cc=cubic,bbr + link.up.rate=1mbit,2mbit",
         {"1.cc": "cubic,bbr", "link.up.rate": "1mbit,2mbit"}, [["1.cc", "link.up.rate"]]),
    ],
)  # fmt: skip
def test_plus_joins_axes_and_leaves_impairments_alone(given, axes, joined):
    assert other_axes([given], ()) == (axes, joined)


def test_joined_axes_make_a_row_of_cells(cli):
    outcome = cli(
        "sweep", "reno", "--axis", "rate=5mbit,10mbit+rtt=40ms,20ms", "--time", "1s", "--json"
    )
    assert outcome.code == 0, outcome.err
    points = [run["point"] for run in json.loads(outcome.out)]
    assert points == [{"rate": "5mbit", "rtt": "40ms"}, {"rate": "10mbit", "rtt": "20ms"}]
    outcome = cli("sweep", "reno", "--axis", "rate=5mbit,10mbit+rtt=40ms", "--time", "1s")
    assert (outcome.code, "`rate` has 2, `rtt` has 1 values" in outcome.err) == (2, True)


def test_each_cell_is_checked_once(monkeypatch, tmp_path):
    checked: list[Scenario] = []
    check = Scenario._check

    def counted(scenario: Scenario) -> None:
        checked.append(scenario)
        check(scenario)

    monkeypatch.setattr(Scenario, "_check", counted)
    base = Scenario(["reno"], time="1s")
    sweep = Sweep(base, {"buffer": "1..4bdp"}, reps=2)
    sweep.run(cache=False, out=tmp_path / "out")
    assert len(checked) == 1 + 3  # it, and the cells
    assert sweep.scenarios[1].replace(seed=5) == Scenario(
        ["reno"], time="1s", buffer="2bdp", seed=5
    )
    with pytest.raises(ScenarioError, match="seed"):
        base.replace(seed=-1)
