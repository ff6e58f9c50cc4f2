"""The control socket of `emulate`, which any program of the user can write to."""

from __future__ import annotations

import errno
import json
import socket
from types import SimpleNamespace
from typing import Any, cast

import pytest

from dumbbell.emulation import control_socket
from dumbbell.emulation.control_socket import UNREADABLE, accept, answer
from dumbbell.emulation.path import EmulatedPath

#: A path whose hosts are asked for nothing.
HOST = SimpleNamespace(popen=lambda *_, **__: None)
SCENARIO = SimpleNamespace(groups=[SimpleNamespace(client=("true",))])
PATH = cast(
    "EmulatedPath",
    SimpleNamespace(
        client=HOST, server=HOST, scenario=SCENARIO, stats=lambda: 1, set=lambda **_: None
    ),
)
ENTER = {"host": "client", "words": ["true"], "environment": {}, "directory": "/"}


@pytest.mark.parametrize(
    "text",
    [
        "", "no JSON", "5", "[]", "{}", "null", "\"set\"", "9" * 10_000, "NaN",
        "[" * 100_000 + "]" * 100_000,
        json.dumps(ENTER),  # without the files of its streams
        json.dumps({**ENTER, "host": []}), json.dumps({"set": 5, "is_named": True}),
    ],
)  # fmt: skip
def test_a_request_that_no_command_makes_has_an_answer(text: str) -> None:
    ours, theirs = socket.socketpair()
    with ours:
        ours.sendall(text.encode() + b"\n")
        answer(theirs, PATH)
        assert json.loads(ours.recv(1 << 16)) == {"error": UNREADABLE}


def test_a_path_that_has_no_descriptors_for_a_while_answers_later(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(control_socket, "RETRY_S", 0)
    ours, theirs = socket.socketpair()
    outcomes: list[Any] = [OSError(errno.EMFILE, ""), (theirs, ""), OSError(errno.EINVAL, "")]

    def next_outcome() -> Any:
        outcome = outcomes.pop(0)
        if isinstance(outcome, OSError):
            raise outcome
        return outcome

    accept(cast("socket.socket", SimpleNamespace(accept=next_outcome)), PATH)
    with ours:
        ours.sendall(b'{"stats": true}\n')
        assert json.loads(ours.recv(1 << 16)) == {"stats": 1}
