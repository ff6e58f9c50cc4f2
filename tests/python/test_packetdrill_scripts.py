"""packetdrill's scripts on Linux in virtual time, and on the simulated TCP."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from dumbbell.kernels import find
from tests.python import packetdrill_scripts as packetdrill
from tests.python.guests import built
from tests.python.real_programs import needs

#: Repetitions, each with other random numbers: as many as take a few minutes.
SEEDS = (1, 2)

absent = [
    variable for variable, *_ in packetdrill.SUITES.values() if variable not in os.environ
]  # fmt: skip
has_scripts = pytest.mark.skipif(
    bool(absent),
    reason=f"{' and '.join(absent)} not set; `packetdrill_scripts.py` says to what",
)


def test_a_script_is_named_with_its_suite_and_has_the_addresses_it_asks_for(tmp_path):
    folder = tmp_path / "gtests/net/tcp"
    for name in ("sack/lost.pkt", "mtu_probe/basic-v6.pkt", "sack/readme"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()
    v6, v4 = packetdrill.scripts_in({"google": tmp_path})
    assert (v6.name, v4.name) == ("google::mtu_probe/basic-v6", "google::sack/lost")
    assert "--ip_version=ipv6" in v6.options
    assert v4.options.startswith("--send_omit_free --ip_version=ipv4")


def test_the_table_says_who_passes_and_why_not():
    linux = {f"google::{name}": packetdrill.Played("") for name in "acd"}
    linux["google::b"] = packetdrill.Played("b.pkt:3: late")
    ours = {
        "google::a": ("pass", "passes"),
        "google::b": ("FAIL", "line 3: late"),
        "google::c": ("out", "not modelled: Fast Open"),
        "google::d": ("FAIL", "line 9: other flags"),
    }
    assert packetdrill.table_of(linux, ours) == [
        ("google::a", "passes", "passes", ""),
        ("google::b", "fails", "fails", "Linux: b.pkt:3: late; line 3: late"),
        ("google::c", "passes", "not modelled", "Fast Open"),
        ("google::d", "passes", "fails", "line 9: other flags"),
    ]


def test_packets_are_counted_from_the_syn():
    output = (
        "inbound injected packet:  0.000007 S 0:0(0) win 65535\n"
        "outbound sniffed packet: -0.000007 S. 4294967290:4294967290(0) ack 1 win 65535\n"
        "outbound sniffed packet:  0.100040 P. 4:1004(1000) ack 1 win 1050\n"
    )
    assert packetdrill.sent_in(output) == ((0, 0, -7), (10, 1000, 100_040))


@built
@has_scripts
@pytest.mark.long
@needs(*packetdrill.TOOLS, "cargo")
def test_linux_ends_every_script_the_same_again_and_passes_what_passes_here(tmp_path):
    places = packetdrill.places_of_environment()
    own = packetdrill.own_scripts(places, tmp_path)
    scripts = packetdrill.scripts_in(places) + own
    program = packetdrill.build_program(places["google"], tmp_path)
    first, *others = (
        packetdrill.play_on_linux(scripts, program, None, seed, Path(tmp_path / str(seed)))
        for seed in SEEDS
    )
    assert [each for each in others if each != first] == [], "a repetition differs"
    assert [first[each.name].said for each in own] == [""] * len(own), "our own scripts are Linux's"
    ours = packetdrill.play_on_ours(places, first, tmp_path)
    assert ours.is_as_listed, "a script of the Rust tests passes or fails that should not"
    rows = packetdrill.table_of(first, ours.rows)
    assert len(rows) + len(own) == len(scripts)
    if find().source == str(places["selftests"]):
        assert [row for row in rows if row[1:3] == ("fails", "passes")] == []
