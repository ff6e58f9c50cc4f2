"""Everything that a command is asked to write, it writes: every pair of its output options."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import dumbbell
from dumbbell.cli import command_line
from tests.python.conftest import Outcome
from tests.python.emulated import PYTHON

Cli = Callable[..., Outcome]

#: Options that name what is written, and `--json`, which prints a document.
OUTPUTS = {
    "--capture", "--csv", "--downlink-log", "--json", "--junit", "--latex", "--log", "--markdown",
    "--out", "--qlog", "--record", "--save", "--uplink-log",
}  # fmt: skip

SUITE = """\
reps = 3
rate = "10mbit"
rtt = "10ms"
time = "1s"
[judge]
goodput_bps = "5%"
[[case]]
name = "alone"
[[case.group]]
cc = "{cc}"
"""


class Asked(NamedTuple):
    """A command, without its output options, and those: words, and files that they write.

    Attributes
    ----------
    words
        `{run}`, `{sweep}`, `{capture}`, `{suite}` and `{out}` are places.
    outputs
        By option; `--json` prints a document instead.
    """

    words: str
    outputs: dict[str, tuple[str, str]]


JSON = {"--json": ("--json", "")}
#: Every command that has several of them.
COMMANDS = {
    "run": Asked(
        "run cubic --time 1s",
        {
            "--out": ("--out {out}/r", "r/run.json"),
            "--capture": ("--capture --out {out}/r", "r/capture.pcapng"),
            **JSON,
        },
    ),
    "sweep": Asked(
        "sweep cubic --time 1s --axis rtt=20ms --reps 1",
        {
            "--out": ("--out {out}/s", "s/sweep.json"),
            "--capture": ("--capture --out {out}/s", "s/runs/*/capture.pcapng"),
            **JSON,
        },
    ),
    "emulate": Asked(
        f"emulate --rate 10mbit --rtt 10ms -- {PYTHON} -c pass",
        {
            "--out": ("--out {out}/e", "e/run.json"),
            "--log": ("--log {out}/log.csv", "log.csv"),
            "--downlink-log": ("--downlink-log {out}/down.log", "down.log"),
            "--uplink-log": ("--uplink-log {out}/up.log", "up.log"),
            "--capture": ("--capture {out}/c.pcapng", "c.pcapng"),
            **JSON,
        },
    ),
    "plot": Asked("plot {run}", {"--out": ("--out {out}/p", "p/*.svg"), **JSON}),
    "report": Asked("report {run}", {"--out": ("--out {out}/page.html", "page.html"), **JSON}),
    "report export": Asked(
        "report export {run}",
        {
            "--csv": ("--csv", ""),
            "--latex": ("--latex", ""),
            "--qlog": ("--qlog", ""),
            "--out": ("--csv --out {out}/x", "x/*.csv"),
            **JSON,
        },
    ),
    "validate": Asked(
        "validate reno --buffer 2bdp --time 1s --reps 2",
        {
            "--out": ("--out {out}/x", "x/report.html"),
            "--save": ("--save {out}/x.json", "x.json"),
            **JSON,
        },
    ),
    "analyze": Asked("analyze {capture}", {"--out": ("--out {out}/a", "a/analysis.json"), **JSON}),
    "identify": Asked("identify {long}", {"--out": ("--out {out}/i", "i/identify.json"), **JSON}),
    "what-if": Asked(
        "what-if {long} --cc reno", {"--out": ("--out {out}/w", "w/what-if.json"), **JSON}
    ),
    "gate": Asked(
        "gate {suite} --cc reno",
        {
            "--record": ("--record {out}/b", "b/*"),
            "--junit": ("--junit {out}/j.xml", "j.xml"),
            "--markdown": ("--markdown {out}/m.md", "m.md"),
            **JSON,
        },
    ),
    "archive": Asked("archive {run}", {"--out": ("--out {out}/a.tar.zst", "a.tar.zst"), **JSON}),
    "model compare": Asked(
        "model compare mathis --time 5s --last 4s", {"--out": ("--out {out}/m", "m/*"), **JSON}
    ),
}
PAIRS = [
    pytest.param(
        command, pair, id=f"{command} {' '.join(pair)}",
        marks=[pytest.mark.kernel] if command == "emulate" else [],
    )
    for command, asked in COMMANDS.items()
    for pair in combinations(asked.outputs, 2)
]  # fmt: skip


def commands(command: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Yield every command of dumbbell's own with its name."""
    command = command.load() if hasattr(command, "load") else command
    of_its_own = getattr(command, "commands", None)
    if not of_its_own:
        yield name, command
    for each, inner in (of_its_own or {}).items():
        yield from commands(inner, f"{name} {each}".strip())


def test_every_command_with_several_outputs_is_here():
    found = {}
    for name, command in commands(command_line()):
        options = {option for param in command.params for option in param.opts} & OUTPUTS
        if name == "list metrics":  # prints one or the other
            options.discard("--markdown")
        if len(options) > 1:
            found[name] = options
    assert found == {name: set(asked.outputs) for name, asked in COMMANDS.items()}


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A run with its capture, a sweep and a suite."""
    root = tmp_path_factory.mktemp("results")
    captured = dumbbell.run(["cubic"], time="1s", capture=root / "c.pcapng")
    captured.save(root / "run")
    dumbbell.run(["cubic"], rate="2mbit", time="10s", capture=root / "long.pcapng")
    scenario = dumbbell.Scenario(["reno"], rate="10mbit", time="2s", buffer="1bdp")
    result = dumbbell.Sweep(scenario, axes={"loss": ["1%", "2%"]}).run(out=root / "sweep")
    assert result.runs
    (root / "suite.toml").write_text(SUITE, encoding="utf-8")
    return {
        "run": root / "run", "sweep": root / "sweep", "capture": root / "c.pcapng",
        "suite": root / "suite.toml", "long": root / "long.pcapng",
    }  # fmt: skip


@pytest.mark.parametrize(("command", "pair"), PAIRS)
def test_both_are_written(command, pair, places, tmp_path, cli, request):
    if command == "validate":
        request.getfixturevalue("fabricated_kernel")
    asked = COMMANDS[command]
    words, after, client = asked.words.partition(" -- ")
    options = " ".join(asked.outputs[each][0] for each in pair)
    text = f"{words} {options}{after}{client}".format(**places, out=tmp_path)
    outcome: Outcome = cli(*text.split())
    assert outcome.code == 0, outcome.err
    for each in pair:
        _, file = asked.outputs[each]
        if file:
            written = list(tmp_path.glob(file))
            assert written, f"{each} wrote nothing: {outcome.out}{outcome.err}"
            assert all(path.stat().st_size for path in written if path.is_file())
    if "--json" in pair:
        json.loads(outcome.out)
