"""What a window of the page asks for: only the latest request of a kind goes on."""

from __future__ import annotations

import threading
from collections import OrderedDict

from dumbbell._core import Control
from dumbbell.base.errors import Cancelled
from dumbbell.run import Run, execute
from dumbbell.run.engine import SIMULATOR
from dumbbell.scenario import Scenario

__all__ = ["Request", "Windows"]

#: Windows whose requests are known at a time; a closed one is forgotten when others are opened.
MAX_WINDOWS = 64


class Request:
    """Something a window asked for, until it asks for something else."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.control = Control()
        self.overtaken = threading.Event()

    @property
    def is_over(self) -> bool:
        """Whether it was overtaken."""
        return self.overtaken.is_set()

    def cancel(self) -> None:
        """Stop what runs for it, within milliseconds."""
        with self.lock:
            self.overtaken.set()
            self.control.cancel()

    def check(self, within_s: float = 0.0) -> None:
        """Go on only if nothing overtakes it, now or within a time.

        Raises
        ------
        Cancelled
            Something did.
        """
        if self.overtaken.wait(within_s):
            raise Cancelled("another request overtook it")

    def run(self, scenario: Scenario, engine: str = SIMULATOR) -> Run:
        """Run a scenario in this thread.

        Raises
        ------
        Cancelled
            It was overtaken.
        """
        with self.lock:
            self.check()
            self.control = control = Control()
        return execute(scenario, control, engine)


class Windows:
    """The latest requests of each window, and what it shows."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.requests: OrderedDict[tuple[str, str], Request] = OrderedDict()
        self.shown: OrderedDict[str, Scenario] = OrderedDict()

    def begin(self, window: str, what: str) -> Request:
        """Begin a request, and cancel the one before of the same window and kind."""
        request = Request()
        with self.lock:
            before = self.requests.pop((window, what), None)
            self.requests[window, what] = request
            forgotten = [before] if before else []
            while len(self.requests) > 4 * MAX_WINDOWS:
                forgotten.append(self.requests.popitem(last=False)[1])
        for each in forgotten:
            each.cancel()
        return request

    def end(self, window: str, what: str) -> None:
        """Cancel what a window last asked for of a kind."""
        with self.lock:
            before = self.requests.pop((window, what), None)
        if before is not None:
            before.cancel()

    def show(self, window: str, scenario: Scenario) -> None:
        """Note what a window shows, to watch its files."""
        with self.lock:
            self.shown[window] = scenario
            self.shown.move_to_end(window)
            while len(self.shown) > MAX_WINDOWS:
                self.shown.popitem(last=False)

    def shows(self, window: str) -> Scenario | None:
        """Return what a window shows; None if that is not known."""
        with self.lock:
            return self.shown.get(window)

    def close(self, window: str) -> None:
        """Cancel all that a window asked for."""
        with self.lock:
            theirs = [key for key in self.requests if key[0] == window]
            requests = [self.requests.pop(key) for key in theirs]
        for request in requests:
            request.cancel()

    def cancel_all(self) -> None:
        """Stop everything that runs."""
        with self.lock:
            requests = list(self.requests.values())
        for request in requests:
            request.cancel()
