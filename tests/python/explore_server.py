"""Servers of the page of `explore`, and what they are asked."""

from __future__ import annotations

import json
import threading
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from dumbbell.explore import ExploreServer
from dumbbell.scenario import Scenario

__all__ = ["ask", "served"]


@contextmanager
def served(scenario: Scenario) -> Iterator[ExploreServer]:
    """Serve the page of a scenario."""
    server = ExploreServer(scenario, language="en")
    thread = threading.Thread(target=server.serve)
    thread.start()
    yield server
    server.http.shutdown()
    thread.join()


def ask(server: ExploreServer, path: str, **asked: Any) -> list[dict[str, Any]]:
    """Return the lines of an answer."""
    body = json.dumps({"window": "w", "slot": "b", **asked}).encode()
    with urllib.request.urlopen(server.url + path, body) as answer:  # noqa: S310 -- our own
        return [json.loads(line) for line in answer.read().splitlines()]
