"""Answers what the page asks: a changed scenario, its picture, and a sweep over one control.

Runs are executed in the threads that answer: the engine lets other threads run meanwhile, and code
from files has processes of its own. What was drawn is kept in memory for when a slider comes back,
and runs of sweeps in the user's cache.
"""

from __future__ import annotations

import json
import threading
import time
from collections import OrderedDict
from collections.abc import Generator, Iterator, Mapping, Sequence
from typing import Any

from dumbbell.base.errors import Cancelled, DumbbellError, ScenarioError
from dumbbell.base.quantities.json_text import json_text
from dumbbell.compare.answers import answers_key, run_answers
from dumbbell.explore.changes import Change, changed
from dumbbell.explore.controls import sections_of
from dumbbell.explore.pictures import picture_of
from dumbbell.explore.window import Request, Windows
from dumbbell.explore.words import as_command, as_python, scenario_of_toml
from dumbbell.run import Run
from dumbbell.run.engine import SIMULATOR, check_engine, default_workers
from dumbbell.runs.key import run_key
from dumbbell.scenario import Scenario

__all__ = ["KERNEL_RUN", "SWEEP", "Laboratory"]

#: A run that takes longer than this is shown by its beginning first, s.
COARSE_S = 0.12
#: The beginning takes about this, s.
BEGINNING_S = 0.05
#: How soon the page asks for the next run after the picture of one, if its controls moved on, s:
#: the scenario is not described until then.
OVERTAKEN_S = 0.02
#: Packets of the bottlenecks that a second of a processor simulates, before the first run has
#: shown it (docs/notes/speed.md has more; this is a slow machine).
PACKETS_PER_S = 2e6
BITS_PER_PACKET = 12_000
#: Pictures that are kept, of about 50 kB.
MAX_KEPT = 256

#: The kinds of request that a sweep and a run on the kernel are.
SWEEP, KERNEL_RUN = "sweep", "kernel"

Line = dict[str, Any]


class Laboratory:
    """Runs what windows ask for.

    Parameters
    ----------
    start
        What a new window shows.
    """

    def __init__(self, start: Scenario) -> None:
        self.start = start
        self.windows = Windows()
        self.turn = threading.Semaphore(default_workers(SIMULATOR))
        self.lock = threading.Lock()
        self.kept: OrderedDict[tuple[Any, ...], str] = OrderedDict()
        self.packets_per_s = PACKETS_PER_S

    def scenario_of(self, asked: Mapping[str, Any]) -> Scenario:
        """Return the scenario that a request names, with its changes.

        Raises
        ------
        ScenarioError
            It cannot be run as asked.
        EngineError
            It cannot be run in the simulator.
        """
        text = asked.get("toml")
        base = scenario_of_toml(text) if isinstance(text, str) and text else self.start
        scenario = changed(base, changes_of(asked)) if asked.get("changes") else base
        check_engine(SIMULATOR, scenario)
        return scenario

    def show(self, asked: Mapping[str, Any]) -> Generator[str]:
        """Yield lines of JSON: a scenario's controls and pictures of its run.

        The picture of a short run comes first, for a slider that is dragged; the controls come
        first if it may take longer.

        Parameters
        ----------
        asked
            ``window`` and ``slot``, of which the latest request counts; ``toml``, ``changes`` and
            ``series``.

        Raises
        ------
        DumbbellError
            It cannot be run.
        """
        window, slot = str(asked.get("window", "")), str(asked.get("slot", ""))
        request = self.windows.begin(window, slot)
        self.windows.end(window, SWEEP)  # the cores are the slider's; the page asks again
        self.windows.end(window, KERNEL_RUN)  # it would be of what is shown no more
        scenario = self.scenario_of(asked)
        self.windows.show(f"{window} {slot}", scenario)
        series = [str(name) for name in asked.get("series") or ()]
        toml = scenario.to_toml()
        pictures = self.pictures(scenario, series, request)
        try:
            if self.is_quick(scenario):
                try:
                    yield line_of("picture", toml, next(pictures))
                    request.check(OVERTAKEN_S)
                except Cancelled:
                    raise
                except DumbbellError:
                    yield line_of("scenario", toml, json.dumps(described(scenario)))
                    raise
            yield line_of("scenario", toml, json.dumps(described(scenario)))
            for picture in pictures:
                yield line_of("picture", toml, picture)
            yield '{"kind": "end"}'
        finally:
            request.cancel()  # what is left is not read

    def is_quick(self, scenario: Scenario) -> bool:
        """Whether a run takes so little time that nothing is shown before it."""
        takes_s = packets_of(scenario) / self.packets_per_s
        return takes_s <= COARSE_S and not any(group.cc.is_file for group in scenario.groups)

    def pictures(
        self, scenario: Scenario, series: Sequence[str], request: Request
    ) -> Iterator[str]:
        """Yield the picture of a run, and before it that of its beginning if the run takes long."""
        key = run_key(scenario, SIMULATOR)
        kept = self.recall((key.digest, *series)) if key.is_lasting else None
        if kept is not None:
            yield kept
            return
        end_s = scenario.time.seconds
        packets = packets_of(scenario)
        takes_s = packets / self.packets_per_s
        if takes_s > COARSE_S:
            begins = beginning_of(scenario, BEGINNING_S / takes_s)
            if begins is not None:
                with self.turn:
                    picture = text_of_picture(request.run(begins), series, end_s=end_s)
                yield picture  # a reader that is slow keeps no other waiting
                request.check()
        with self.turn:
            before = time.perf_counter()
            run = request.run(scenario)
            took_s = time.perf_counter() - before
            # The middle of what was and what is: a run of another kind does not throw it far off.
            self.packets_per_s = (self.packets_per_s + packets / max(took_s, 1e-4)) / 2
            request.check()
            picture = text_of_picture(run, series, took_s=took_s)
        if key.is_lasting:
            self.keep((key.digest, *series), picture)
        yield picture

    def run(self, asked: Mapping[str, Any]) -> Run:
        """Return the run of a request, executed again: it is as it was.

        Raises
        ------
        DumbbellError
            It cannot be run.
        """
        return self.windows.begin(str(asked.get("window", "")), "run").run(self.scenario_of(asked))

    def document(self, asked: Mapping[str, Any]) -> str:
        """Return the result of a request as `dumbbell run --json` prints it.

        Raises
        ------
        DumbbellError
            It cannot be run.
        """
        run = self.run(asked)
        return json_text({**run.to_dict(), **answers_key(run_answers(run))}) + "\n"

    def recall(self, key: tuple[Any, ...]) -> str | None:
        """Return a picture that is kept; None if it is not."""
        with self.lock:
            if key in self.kept:
                self.kept.move_to_end(key)
            return self.kept.get(key)

    def keep(self, key: tuple[Any, ...], picture: str) -> None:
        """Keep a picture, and drop the one that was not asked for longest."""
        with self.lock:
            self.kept[key] = picture
            while len(self.kept) > MAX_KEPT:
                self.kept.popitem(last=False)


def described(scenario: Scenario) -> Line:
    """Return a scenario as the page takes it: its controls and its texts."""
    return {
        "sections": [section.to_dict() for section in sections_of(scenario)],
        "command": as_command(scenario),
        "python": as_python(scenario),
        "title": scenario.name,
        "files": [group.cc.name for group in scenario.groups if group.cc.is_file],
    }


def line_of(kind: str, toml: str, text: str) -> str:
    """Return a line of JSON: what it is, what it is of, and the rest of an object's text."""
    return f'{{"kind": "{kind}", "toml": {json.dumps(toml)}, {text[1:]}'


def text_of_picture(
    run: Run, series: Sequence[str], *, end_s: float | None = None, took_s: float = 0.0
) -> str:
    """Return a picture as JSON."""
    part = "whole" if end_s is None else "beginning"
    picture = picture_of(run, series, end_s=end_s)
    return json.dumps({"part": part, "took_s": round(took_s, 4), **picture})


def changes_of(asked: Mapping[str, Any]) -> list[Change]:
    """Return the changes of a request.

    Raises
    ------
    ScenarioError
        They are not pairs of text.
    """
    try:
        pairs = [(name, value) for name, value in asked.get("changes") or ()]
    except (TypeError, ValueError):
        pairs = [(0, 0)]
    if not all(isinstance(text, str) for pair in pairs for text in pair):
        raise ScenarioError("changes are pairs of a name and a value")
    return pairs


def packets_of(scenario: Scenario) -> float:
    """Return about how many packets a run moves, if its links are busy."""
    bits = sum(int(rate) for link in scenario.links for rate in link.rates[:1])
    return bits * scenario.time.seconds / BITS_PER_PACKET


def beginning_of(scenario: Scenario, share: float) -> Scenario | None:
    """Return the scenario up to a share of its time; None if not all of it has begun by then.

    The same seed makes the same packets: the beginning of the run is the run of the beginning.
    """
    last_s = max(float(group.latest_start.seconds) for group in scenario.groups)
    end_s = max(share * scenario.time.seconds, 1.5 * last_s, 0.5)
    if end_s > scenario.time.seconds / 2:
        return None
    try:
        return scenario.replace(time=f"{end_s:.3f}s")
    except DumbbellError:
        return None
