"""`dumbbell cc check` and `cc new`: what is good passes, and each sin is found and named."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dumbbell import _core
from dumbbell.base.errors import EngineError, ResultError, ScenarioError
from dumbbell.cc_check import check
from dumbbell.cc_check.storm import SANITIZER_OPTIONS, Storm, storm
from dumbbell.congestion_control import congestion_controls
from dumbbell.congestion_control.new import new
from tests.python.thorough import THOROUGH

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
HOSTILE = ROOT / "tests/data/hostile/hostile.bpf.c"
MODULES = ROOT / "crates/cc/tests/cc"
#: A place in the source for a sin, and where it then is found.
HOOK = "\ttcp_reno_cong_avoid(sk, ack, acked);\n"

SINS = {
    "divide": ("tp->snd_cwnd = 100 / zero;", "division_by_zero", "sin.bpf.c:"),
    "wild": ("*(volatile u32 *)address = ack;", "address", "SEGV in `hostile_cong_avoid`"),
    "loop": ("while (!zero) zero = ca->divisor;", "stuck", "does not return from `cong_avoid`"),
    "zero": ("tp->snd_cwnd = 0;", "cwnd_zero", "sets cwnd to 0 in `cong_avoid`"),
    "huge": ("tp->snd_cwnd -= tp->snd_cwnd + 1;", "cwnd_huge", "4,294,967,295 packets"),
    "shift": ("tp->snd_cwnd += 1 << (acked + 40);", "undefined", "shift exponent"),
    "state": ("((u8 *)ca)[104] = ack | 1;", "beyond_state", "beyond its 104 bytes of state"),
    "cast": (
        "*(u32 *)&tp->mss_cache = 1000 + (ack & 1);",
        "foreign_field",
        "writes `mss_cache` in `cong_avoid`, which the kernel does not let a BPF",
    ),
    "address": (
        "ca->acks = (u32)(unsigned long)sk;",
        "non_deterministic",
        "behaves differently when the same storm is repeated",
    ),
}


def sinful(directory: Path, sin: str) -> str:
    """Write a congestion control that commits a sin at every ACK."""
    path = directory / "sin.bpf.c"
    text = HOSTILE.read_text()
    assert HOOK in text
    path.write_text(text.replace(HOOK, f"{HOOK}\t{sin}\n"))
    return str(path)


@pytest.fixture(autouse=True)
def _has_sanitizers() -> None:
    if shutil.which("gcc") is None:
        pytest.skip("no gcc, whose sanitizers these tests are written for")


@pytest.fixture(autouse=True)
def _few_sockets(monkeypatch: pytest.MonkeyPatch) -> None:
    """Send few sockets: what a test plants is met by the first."""
    if not THOROUGH:
        monkeypatch.setattr("dumbbell.cc_check.storm.FLOWS", 15)


@pytest.mark.parametrize("sin", SINS)
def test_a_storm_finds_a_sin_and_names_it(tmp_path: Path, sin: str) -> None:
    code, kind, message = SINS[sin]
    found = storm(sinful(tmp_path, code), seeds=1)
    assert [finding.level for finding in found.findings[:1]] == ["error"]
    matching = [finding for finding in found.findings if finding.kind == kind]
    assert matching, found.findings
    assert message in matching[0].message


def test_a_place_is_found_for_sanitizers_that_cannot_start_a_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As clang's, whose program for that the storm, confined, cannot start."""
    if shutil.which("addr2line") is None:
        pytest.skip("no addr2line, which binutils has")
    code, _, message = SINS["wild"]
    options = f"{SANITIZER_OPTIONS}:symbolize=0"
    monkeypatch.setattr("dumbbell.cc_check.storm.SANITIZER_OPTIONS", options)
    found = storm(sinful(tmp_path, code), seeds=1)
    assert any(message in finding.message for finding in found.findings), found.findings


@pytest.fixture
def _one_build(monkeypatch: pytest.MonkeyPatch) -> None:
    """Send through the build with sanitizers alone, where no other build is looked at."""
    monkeypatch.setattr("dumbbell.cc_check.storm.FILLINGS", ())


@pytest.mark.usefixtures("_one_build")
def test_a_storm_harms_nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dumbbell.cc_check.storm.ends", lambda _builder: ())
    harm = tmp_path / "harm"
    calls = f'extern int open(const char *, int, ...); open("{harm}", 0101, 0600);'
    file = sinful(tmp_path, f"{{ {calls} }}")
    if "no Landlock" in sandbox_facts():
        pytest.skip("this kernel has no Landlock")
    storm(file, seeds=1)
    assert not harm.exists()
    monkeypatch.setenv("DUMBBELL_UNSAFE_NO_SANDBOX", "1")
    storm(file, seeds=1)
    assert harm.exists()


def sandbox_facts() -> str:
    """Return what the doctor says about the sandbox."""
    facts = json.loads(_core.machine())
    return " ".join(fact["value"] for fact in facts if fact["name"].startswith("sandbox"))


@pytest.mark.parametrize("name", congestion_controls())
def test_our_own_weather_a_storm(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """50 sockets; `make test-all` sends 150, some with parameters at their ends."""
    if not THOROUGH:
        monkeypatch.setattr("dumbbell.cc_check.storm.ends", lambda _builder: ())
        monkeypatch.setattr("dumbbell.cc_check.storm.FLOWS", 50)
    found = storm(str(ROOT / f"cc/{name}.bpf.c"), seeds=1)
    assert found.findings == []
    assert found.sanitizers == "address,undefined"
    assert found.calls["ssthresh"] > 500


@pytest.mark.usefixtures("_one_build")
def test_a_parameter_is_sent_through_a_storm_at_both_ends_of_its_range(tmp_path: Path) -> None:
    file = tmp_path / "sin.bpf.c"
    text = HOSTILE.read_text().replace("0, 0, 7,", "0, 0, 9,")
    file.write_text(text.replace(HOOK, f"{HOOK}\ttp->snd_cwnd += 1 / (9 - deed);\n"))
    found = storm(str(file), seeds=1)
    assert found.settings == 5  # deed=0 is its default, address and after_acks have two ends each
    assert [finding.kind for finding in found.findings] == ["division_by_zero"]
    assert found.findings[0].message.endswith(" with `deed=9`")


def test_a_kernel_module_weathers_a_storm_and_its_sins_are_found(tmp_path: Path) -> None:
    """Of both forms: `cong_control` of Linux before 6.10 has two arguments."""
    found = storm(str(MODULES / "module_aimd.c"), seeds=1)
    assert found.findings == []
    assert sum(found.calls.values()) > 10_000
    # It sets cwnd to the packets that an ACK brings, which may be none.
    found = storm(str(MODULES / "module_rate.c"), seeds=1)
    assert [finding.kind for finding in found.findings] == ["cwnd_zero"]
    assert "`cong_control`" in found.findings[0].message
    file = tmp_path / "tcp_sin.c"
    text = (MODULES / "module_aimd.c").read_text()
    sin = "return max(cwnd / (cwnd > 100 ? 0 : 2), 2U);"
    file.write_text(text.replace("return max(cwnd - (cwnd >> kept_shift), 2U);", sin))
    found = storm(str(file), seeds=1)
    assert found.findings[0].kind == "division_by_zero"
    assert "tcp_sin.c:" in found.findings[0].message


def test_a_forbidden_write_is_named(tmp_path: Path) -> None:
    checked = check(sinful(tmp_path, "tp->mss_cache = 1;"))
    assert checked.verdict == "FAILED"
    assert checked.findings[0].kind == "read_only_field"
    assert "`mss_cache`" in checked.findings[0].message


def test_what_is_new_passes_its_check(
    tmp_path: Path, cli: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    made = cli("cc", "new", "mine")
    assert made.code == 0
    assert sorted(path.name for path in (tmp_path / "mine").iterdir()) == [
        "mine.bpf.c", "scenario.toml", "test_mine.py",
    ]  # fmt: skip
    checked = cli("cc", "check", "mine/mine.bpf.c", "--storms", "1", "--json")
    assert checked.code == 0, checked.out
    said = json.loads(checked.out)
    assert (said["name"], said["verdict"]) == ("mine", "OK")
    assert said["ops"] == ["ssthresh", "cong_avoid", "undo_cwnd", "init"]
    assert [series["name"] for series in said["series"]] == ["w_max_pkts", "losses", "phase"]
    assert min(group["share"] for group in said["sanity"]) > 0.2
    monkeypatch.chdir(tmp_path / "mine")
    assert cli("run", "scenario.toml", "--time", "5s").code == 0
    command = [sys.executable, "-m", "pytest", "-q", "-k", "not storm", "-p", "no:cacheprovider"]
    tested = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "3 passed" in tested.stdout, tested.stdout


@pytest.mark.parametrize("kind", ["delay", "rate"])
def test_what_is_new_of_another_kind_keeps_its_promises(
    tmp_path: Path, cli: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli("cc", "new", "mine", "--kind", kind).code == 0
    checked = cli("cc", "check", "mine/mine.bpf.c", "--storms", "1", "--json")
    said = json.loads(checked.out)
    assert checked.code == 0, said["findings"]
    assert "cong_control" in said["ops"]
    assert said["took_s"]["two flows against cubic"] > 0
    monkeypatch.chdir(tmp_path / "mine")
    command = [sys.executable, "-m", "pytest", "-q", "-k", "not storm", "-p", "no:cacheprovider"]
    tested = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "3 passed" in tested.stdout, tested.stdout


def test_what_the_verifier_refuses_still_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_file: str) -> None:
        raise _core.EngineError("the kernel's verifier rejects it")

    monkeypatch.setattr(_core, "verify", refuse)
    steps = sys.modules["dumbbell.cc_check.check"]
    monkeypatch.setattr(steps, "has_capabilities", lambda *_: True)
    monkeypatch.setattr(steps, "storm", lambda _file, seeds: Storm(seeds=seeds))
    new("mine", tmp_path)
    checked = check(str(tmp_path / "mine/mine.bpf.c"), storms=1)
    assert checked.sanity is not None
    if checked.verifier is not None:
        assert checked.verdict == "FAILED"


def test_what_fails_leaves_with_1(tmp_path: Path, cli: Callable[..., Any]) -> None:
    outcome = cli("cc", "check", sinful(tmp_path, SINS["zero"][0]), "--storms", "1")
    assert outcome.code == 1
    assert "sets cwnd to 0 in `cong_avoid`" in outcome.out
    assert outcome.out.rstrip().endswith("verdict     FAILED")


NAMES = {
    **dict.fromkeys(
        ["Mine", "9lives", "int", "a" * 16, "x-y", ""], "invalid congestion-control name"
    ),
    **dict.fromkeys(congestion_controls(), "is built in"),
    **dict.fromkeys(["westwood", "lp", "htcp"], "is one of Linux's own"),
    **dict.fromkeys(["sock", "u32", "tcp_reno"], "already a name in the headers"),
}


@pytest.mark.parametrize("name", NAMES)
def test_an_invalid_name_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(ScenarioError, match=NAMES[name]):
        new(name, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_failing_compiler_is_not_reported_as_a_bad_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(path: str) -> None:
        raise _core.EngineError(f"congestion control `{path}` does not compile (cc):\nno cc1")

    monkeypatch.setattr(_core, "precompile", fail)
    with pytest.raises(EngineError, match="no cc1"):
        new("mine", tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    new("mine", tmp_path)
    with pytest.raises(ResultError, match="already exists"):
        new("mine", tmp_path)


@pytest.mark.parametrize("name", ["mine.rs", "libmine.so"])
def test_what_is_neither_c_nor_python_is_refused_in_one_line(
    cli: Callable[..., Any], tmp_path: Path, name: str
) -> None:
    path = tmp_path / name
    path.write_bytes(b"")
    outcome = cli("cc", "check", str(path))
    assert outcome.code == 2
    assert "its name ends in neither `.c` nor `.py`" in outcome.err


def test_a_check_without_the_sandbox_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "mine.py"
    file.write_text(
        "import dumbbell\n\n\nclass Mine(dumbbell.CongestionControl):\n"
        "    def cong_avoid(self, sk, ack, acked):\n"
        "        dumbbell.tcp_cong_avoid_ai(sk, sk.snd_cwnd, acked)\n"
    )
    monkeypatch.setenv("DUMBBELL_UNSAFE_NO_SANDBOX", "1")
    found = check(str(file))
    assert found.verdict == "WARN"
    assert [finding.kind for finding in found.findings] == ["sandbox"]
    assert "without the sandbox" in found.findings[0].message
