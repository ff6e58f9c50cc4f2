"""The largest scenario files are read in time that is proportional to their size."""

import json
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

import dumbbell
from dumbbell.scenario.file import read_scenario

GROUP = '[[group]]\ncc = "reno"\n'
NO_SAMPLES = 'sample = "0s"\n'
#: Lines of Python that a byte of a file may take to read. A core runs some 30 million of them a
#: second, so the largest file (1 MiB) takes 2 s.
LINES_A_BYTE = 60


def links(count: int, line: str = 'rate = "1mbit"') -> str:
    return "".join(f'[[link]]\nname = "l{at}"\n{line}\n' for at in range(count))


def over(names: range) -> str:
    return json.dumps([f"l{at}" for at in names])


def changes(count: int, value: str) -> str:
    return ",".join(f"{at + 1}ms:{value}" for at in range(count))


def groups(line: Callable[[int], str]) -> Callable[[int], str]:
    return lambda count: NO_SAMPLES + "".join(f"{GROUP}{line(at)}\n" for at in range(count))


def points(count: int) -> str:
    return ";".join(f"{at + 1}B {(at + 1) / count}" for at in range(count))


#: By what there is much of: from a count to a file that is proportional to it.
KINDS: dict[str, Callable[[int], str]] = {
    "groups": groups(lambda _: ""),
    "groups that differ": groups(lambda at: f'start = "{at}us"\nrtt = "{at + 1}ms"'),
    "named groups": groups(lambda at: f'name = "g{at}"'),
    "hosts": groups(lambda _: "[group.host]\ntso = false"),
    "programs": lambda count: NO_SAMPLES + '[[group]]\nclient = "a"\n' * count,
    "cross traffic": groups(lambda _: 'traffic = "poisson:load=1%,size=10kB"'),
    "applications": groups(lambda at: f'traffic = "page:parse={at + 1}ms"'),
    "links": lambda count: f"{links(count)}{GROUP}route = {over(range(count))}\n",
    "links and groups": lambda count: (
        NO_SAMPLES
        + links(count)
        + "".join(f'{GROUP}route = ["l{at}"]\nback = ["l{at - 1}"]\n' for at in range(1, count))
        + f'{GROUP}route = ["l0"]\n'
    ),
    "long routes": lambda count: (
        links(100)
        + f"{GROUP}route = {over(range(50))}\nback = {over(range(50, 100))}\n" * (count // 20)
    ),
    "rate steps": lambda count: f'rate_steps = "{changes(count, "1mbit")}"\n{GROUP}',
    "rate steps of links": lambda count: (
        links(count, f'rate = "1mbit"\nrate_steps = "{changes(5, "2mbit")}"')
        + f"{GROUP}route = {over(range(count))}\n"
    ),
    "RTT steps": lambda count: f'rtt_steps = "{changes(count, "40ms")}"\n{GROUP}',
    "groups with RTT steps": lambda count: (
        f'{NO_SAMPLES}rtt_steps = "{changes(count, "40ms")}"\n{GROUP * count}'
    ),
    "points": lambda count: f'{GROUP}traffic = "poisson:gap=1s,size=points({points(count)})"\n',
    "impairments": lambda count: (
        f"impair = {json.dumps(['corrupt:probability=1%'] * count)}\n{GROUP}"
    ),
    "times of a trace": lambda count: f'trace = "ms:runs={"1x1;2x1;" * count}1x1"\n{GROUP}',
}  # fmt: skip


def lines_run(call: Callable[[], object]) -> int:
    """Count the lines of Python that a call runs, each iteration of a comprehension too."""
    count = 0

    def trace(_frame: object, event: str, _argument: object) -> Any:
        nonlocal count
        count += event in ("line", "call")
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        call()
    finally:
        sys.settrace(before)
    return count


@pytest.mark.parametrize("kind", KINDS)
def test_twice_as_large_a_file_takes_twice_as_long(kind, tmp_path):
    path = tmp_path / "large.toml"
    scenarios: list[dumbbell.Scenario] = []

    def use() -> object:
        scenario = scenarios[-1]
        return scenario.group_labels, scenario.to_json(), scenario.to_dict()

    read, used, sizes = [], [], []
    for count in (20, 200, 400):  # what is cached for all files is read with the first
        path.write_text(KINDS[kind](count), encoding="utf-8")
        sizes.append(path.stat().st_size)
        read.append(lines_run(lambda: scenarios.append(read_scenario(path))))
        used.append(lines_run(use))
    assert read[2] < 2.2 * read[1]
    assert used[2] < 2.2 * used[1]
    assert (read[2] - read[1]) / (sizes[2] - sizes[1]) < LINES_A_BYTE


def test_a_result_of_twice_as_many_groups_takes_twice_as_long():
    taken = []
    for count in (20, 200, 400):
        groups = [dumbbell.Group("reno", size="1kB", jitter="0s")] * count
        run = dumbbell.run(dumbbell.Scenario(groups, time="100ms", sample="0s"))
        # A verdict labels groups only where it names one.
        taken.append(lines_run(partial(getattr, run.scenario, "group_labels")))
        taken[-1] += lines_run(run.to_dict)
    assert taken[2] < 2.2 * taken[1]


def refused(text: str, tmp_path) -> str:
    path = tmp_path / "large.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(dumbbell.ScenarioError) as raised:
        read_scenario(path)
    return str(raised.value).removeprefix(str(path))


@pytest.mark.parametrize(
    ("trace", "says"),
    [
        ("poisson:rate=1e18bit", "`poisson` has 83,111,702,127 opportunities in a ms; use lower"),
        ("cellular:rate=1e15bit", "`cellular` has 83,111,702 opportunities in a ms; use lower"),
        ("poisson:rate=1gbit,length=600s", "has 49,867,021 opportunities; use at most 10,000,000"),
        ("steps:rates=1mbit;2mbit,every=3600s", "`steps` is longer than an hour; use shorter"),
        ("poisson:length=3601s", "`length` of `poisson` is `3601s`; use at most `3600s`"),
        ("ms:runs=1x1*10000001", "`runs` has more than 10,000,000 times"),
    ],
)  # fmt: skip
def test_a_trace_that_takes_long_is_refused_before_it_is_made(trace, says, tmp_path):
    assert says in refused(f'trace = "{trace}"\n{GROUP}', tmp_path)


def test_what_links_and_groups_have_is_bounded_in_all(tmp_path):
    """The engine's input has a copy for each; a file names it in a few bytes."""
    of_links = links(1000, 'trace = "ms:runs=1x1*2000000"') + f"{GROUP}route = {over(range(1000))}"
    message = refused(of_links, tmp_path)
    assert message == (
        ":18: the links' traces have more than 10,000,000 times; use shorter or fewer"
    )
    (tmp_path / "sizes").write_text("\n".join(f"{at} {at / 9999}" for at in range(10_000)))
    cdf = f'traffic = "poisson:gap=1s,size=cdf({tmp_path / "sizes"})"\n'
    message = refused(NO_SAMPLES + f"{GROUP}{cdf}" * 1000, tmp_path)
    assert message == (":34: the groups' distributions have more than 100,000 points; use fewer")
    message = refused(f'{NO_SAMPLES}rtt_steps = "{changes(2000, "40ms")}"\n{GROUP * 501}', tmp_path)
    assert "2,000 changes of the base RTT of 501 groups are more than 1,000,000" in message
    assert "more than 1,000 links; use fewer" in refused(links(1001) + GROUP, tmp_path)
