"""`dumbbell doctor`, on machines that are made up."""

from __future__ import annotations

import json
from typing import Any

import pytest

from dumbbell import _core

FABRICATED: list[dict[str, Any]] = [
    {"name": "TUN devices", "status": "ok", "value": "/dev/net/tun", "costs": "", "remedy": "",
     "needed_for": ["kernel"]},
    {"name": "struct_ops", "status": "missing", "value": "not in this kernel",
     "costs": "our algorithms do not run", "remedy": "Linux 5.6 or newer",
     "needed_for": ["bpf"]},
    {"name": "clang", "status": "limited", "value": None, "costs": "own files do not compile",
     "remedy": "apt install clang"},
]  # fmt: skip


@pytest.fixture
def machine(monkeypatch):
    def put(facts: list[dict[str, Any]]) -> None:
        monkeypatch.setattr(_core, "machine", lambda: json.dumps(facts))

    put(FABRICATED)
    return put


def test_says_what_is_missing_what_it_costs_and_the_remedy(cli, machine):
    outcome = cli("doctor")
    assert outcome.code == 0
    for text in ("TUN devices", "not in this kernel", "do not run", "remedy: Linux 5.6", "limited"):
        assert text in outcome.out
    *able, virtual = outcome.out.splitlines()[-4:]
    assert able == [
        "simulator: yes",
        "kernel engine: yes",
        "our algorithms in the kernel: no, struct_ops: not in this kernel",
    ]
    assert virtual.startswith("Linux in virtual time: ")


def test_what_the_kernel_engine_lacks_our_congestion_controls_lack_too(cli, machine):
    machine([{**FABRICATED[0], "status": "missing", "value": "no /dev/net/tun"}])
    lines = cli("doctor").out.splitlines()
    assert "kernel engine: no, TUN devices: no /dev/net/tun" in lines
    assert "our algorithms in the kernel: no, TUN devices: no /dev/net/tun" in lines


def test_a_build_without_the_engine_does_not_claim_it(cli, machine):
    machine([])
    assert "kernel engine: no, this build has no kernel engine" in cli("doctor").out


def test_json(cli, machine):
    document = json.loads(cli("doctor", "--json").out)
    names = ["engine", "TUN devices", "struct_ops", "clang"]
    assert [fact["name"] for fact in document["facts"]] == names
    assert [ability["is_there"] for ability in document["abilities"]][:3] == [True, True, False]


def test_exits_with_1_when_not_even_the_simulator_runs(cli, machine, monkeypatch):
    monkeypatch.setattr("dumbbell.cli.machine.fault_of", lambda _: ("no C compiler",))
    outcome = cli("doctor")
    assert outcome.code == 1
    assert "simulator: no, no C compiler" in outcome.out


def test_this_machine_has_facts_that_are_read(cli):
    outcome = cli("doctor")
    assert outcome.code == 0
    assert "simulator: yes" in outcome.out


def test_an_engine_older_than_its_sources_is_reported_with_the_remedy(cli, monkeypatch):
    monkeypatch.setattr("dumbbell.cli.machine.changed_since_build", lambda: "crates/net/src/lib.rs")
    shown = cli("doctor").out
    assert f"{_core.ENGINE_VERSION}, older than crates/net/src/lib.rs" in " ".join(shown.split())
    assert "remedy: make build" in shown


def test_the_sandbox_is_a_fact(monkeypatch):
    def sandbox() -> dict[str, dict[str, Any]]:
        facts = json.loads(_core.machine())
        return {fact["name"]: fact for fact in facts if fact["name"].startswith("sandbox")}

    found = sandbox()
    assert list(found) == ["sandbox for files", "sandbox for system calls"]
    for fact in found.values():
        assert "foreign code can" in fact["costs"]
        assert fact["needed_for"] == []
    monkeypatch.setenv("DUMBBELL_UNSAFE_NO_SANDBOX", "1")
    for fact in sandbox().values():
        assert (fact["status"], fact["value"]) == (
            "limited",
            "turned off by DUMBBELL_UNSAFE_NO_SANDBOX",
        )
