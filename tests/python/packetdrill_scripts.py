"""packetdrill's scripts on Linux in virtual time and on the simulated TCP: the table of both.

Google's scripts and those of Linux's selftests are not part of this project. Two variables say
where they are, and packetdrill itself, which is built from the first:

- ``DUMBBELL_PACKETDRILL``: a clone of <https://github.com/google/packetdrill>
- ``DUMBBELL_LINUX``: a tree of Linux; the kernel of the guest is best built from the same

``python -m tests.python.packetdrill_scripts --repetitions 20`` prints the table. A repetition takes
some two minutes. Scripts run as they are, with their own tolerances, over IPv4 unless they name
IPv6.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.python.emulated import EMULATE

__all__ = [
    "SUITES", "TOOLS", "Ours", "Played", "Script", "build_program", "own_scripts",
    "places_of_environment", "play_on_linux", "play_on_ours", "scripts_in", "sent_in", "table_of",
]  # fmt: skip

ROOT = Path(__file__).parents[2]
#: What runs in the guest besides packetdrill, and what builds that.
TOOLS = (
    "bison", "cc", "ethtool", "flex", "ip", "make", "nstat", "stdbuf", "sysctl", "tc", "unshare",
)  # fmt: skip
#: The project's own scripts.
OWN = ROOT / "crates/tcp/tests/packetdrill/scripts"
#: Suites: the variable that says where, the folder of scripts in it, options of its own runner.
SUITES = {
    "google": ("DUMBBELL_PACKETDRILL", "gtests/net/tcp", "--send_omit_free"),
    "selftests": ("DUMBBELL_LINUX", "tools/testing/selftests/net/packetdrill", ""),
}
#: Addresses and names as both suites' runners have them.
OPTIONS = {
    4: "--ip_version=ipv4 --local_ip=192.168.0.1 --gateway_ip=192.168.0.1 "
    "--netmask_ip=255.255.0.0 --remote_ip=192.0.2.1 -D TFO_COOKIE=3021b9d889017eeb "
    "-D TFO_COOKIE_ZERO=b7c12350a90dc8f5 -D CODE=host_unreachable -D CMSG_LEVEL_IP=SOL_IP "
    "-D CMSG_TYPE_RECVERR=IP_RECVERR",
    6: "--ip_version=ipv6 --mtu=1520 --local_ip=fd3d:0a0b:17d6::1 "
    "--gateway_ip=fd3d:0a0b:17d6:8888::1 --remote_ip=fd3d:fa7b:d17d::1 "
    "-D TFO_COOKIE=c1d1e9742a47a9bc -D TFO_COOKIE_ZERO=82af1a8f9a205c34 "
    "-D CMSG_LEVEL_IP=SOL_IPV6 -D CMSG_TYPE_RECVERR=IPV6_RECVERR",
}
NAMES_IPV6 = re.compile(r"ip(v)?6(_|$)|v6$")
#: Waits for ten ticks by asking again and again, which takes no time in virtual time: a pause does.
WAITING = """
#include <sys/times.h>
#include <unistd.h>
clock_t __real_times(struct tms *buffer);
clock_t __wrap_times(struct tms *buffer);
clock_t __wrap_times(struct tms *buffer)
{
	usleep(50);
	return __real_times(buffer);
}
"""
#: Bash reads it before a script: a function starts no program, of which scripts start 25.
FUNCTIONS = """
sysctl() {
	local word name
	for word in "$@"; do
		[ "$word" = -q ] && continue
		name=${word%%=*}
		echo "${word#*=}" >"/proc/sys/${name//.//}"
	done
}
"""
#: Plays the scripts of a list, each in a network namespace of its own, for ten virtual minutes.
PLAYING = """
place=$PWD
[ -c /dev/net/tun ] || { mkdir -p /dev/net; mknod /dev/net/tun c 10 200; }
while IFS='|' read -r number folder script options; do
	cd "$folder"
	timeout 600 unshare -n stdbuf -oL "$place/packetdrill" -v $options "$script" \\
		>"$place/sent-$number" 2>"$place/said-$number" </dev/null
	echo "$number $?" >>"$place/statuses"
done <list
"""
#: Of what packetdrill says with `-v`, a packet that left: when, flags, first byte, payload.
SENT = re.compile(r"^outbound sniffed packet: +(-?[\d.]+) (\S+) (\d+):\d+\((\d+)\)", re.MULTILINE)
#: A line of the table of the Rust tests.
ROW = re.compile(r"^(pass|FAIL|out|beside) +(\w+::[^:]+): (.*)$", re.MULTILINE)


@dataclass(frozen=True)
class Script:
    """A script.

    Attributes
    ----------
    name
        With its suite, as in the Rust tests.
    path
        Where it is.
    options
        Of packetdrill.
    """

    name: str
    path: Path
    options: str


@dataclass(frozen=True)
class Played:
    """How a script ended on Linux.

    Attributes
    ----------
    said
        Why it fails; nothing where it passes.
    sent
        Number of the first byte, payload (bytes) and time (µs) of each packet that left.
    """

    said: str
    sent: tuple[tuple[int, int, int], ...] = ()


def scripts_in(places: dict[str, Path]) -> list[Script]:
    """Return the scripts of the suites that are there, by their variables' values."""
    found = []
    for suite, place in places.items():
        _, folder, own = SUITES[suite]
        root = place / folder
        for path in sorted(root.rglob("*.pkt")):
            name = str(path.relative_to(root).with_suffix(""))
            version = 6 if NAMES_IPV6.search(name) else 4
            found.append(Script(f"{suite}::{name}", path, f"{own} {OPTIONS[version]}".strip()))
    return found


def own_scripts(places: dict[str, Path], directory: Path) -> list[Script]:
    """Return the project's own scripts, copied to where they find the selftests' defaults."""
    folder = directory / "own"
    shutil.copytree(OWN, folder, ignore=shutil.ignore_patterns("wrong"))
    (directory / "common").mkdir()
    defaults = places["selftests"] / SUITES["selftests"][1] / "defaults.sh"
    shutil.copy(defaults, directory / "common")
    return [Script(f"own::{path.stem}", path, OPTIONS[4]) for path in sorted(folder.iterdir())]


def places_of_environment() -> dict[str, Path]:
    """Return where the suites are that the environment names."""
    named = {suite: os.environ.get(variable) for suite, (variable, *_) in SUITES.items()}
    return {suite: Path(place).resolve() for suite, place in named.items() if place}


def build_program(clone: Path, directory: Path) -> Path:
    """Build packetdrill in a directory, from a clone that is only read."""
    source = directory / "source"
    shutil.copytree(clone / "gtests/net/packetdrill", source, ignore=shutil.ignore_patterns("*.o"))
    (source / "waiting.c").write_text(WAITING)
    libraries = "packetdrill-ext-libs=-lpthread -lrt -ldl -Wl,--wrap=times waiting.o"
    for command in (["./configure"], ["cc", "-O2", "-c", "waiting.c"],
                    ["make", "-B", "packetdrill", libraries]):  # fmt: skip
        subprocess.run(command, cwd=source, check=True, capture_output=True)
    return source / "packetdrill"


def play_on_linux(
    scripts: Sequence[Script], program: Path, kernel: str | None, seed: int, directory: Path
) -> dict[str, Played]:
    """Play scripts in a guest."""
    directory.mkdir()
    shutil.copy(program, directory / "packetdrill")
    (directory / "functions").write_text(FUNCTIONS)
    (directory / "play").write_text(PLAYING)
    rows = (
        f"{number}|{each.path.parent}|{each.path.name}|{each.options}\n"
        for number, each in enumerate(scripts)
    )
    (directory / "list").write_text("".join(rows))
    folders = {str(Path(found).parent) for each in TOOLS if (found := shutil.which(each))}
    path = ":".join([*sorted(folders), "/usr/sbin", "/usr/bin", "/sbin", "/bin"])
    chosen = [] if kernel is None else ["--kernel", kernel]
    done = subprocess.run(
        [*EMULATE, "--virtual", *chosen, "--rate", "none", "--seed", str(seed), "--",
         "env", f"PATH={path}", f"BASH_ENV={directory}/functions", "sh", "play"],
        cwd=directory, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    statuses = dict(line.split() for line in (directory / "statuses").read_text().splitlines())
    played = {}
    for number, script in enumerate(scripts):
        said = (directory / f"said-{number}").read_text(errors="replace").strip()
        passes = statuses[str(number)] == "0"
        sent = sent_in((directory / f"sent-{number}").read_text(errors="replace"))
        reason = "" if passes else (said or "it fails").splitlines()[0]
        played[script.name] = Played(reason, sent)
    return played


def sent_in(output: str) -> tuple[tuple[int, int, int], ...]:
    """Return the packets that left, their numbers counted from the SYN."""
    sent, first = [], 0
    for seconds, flags, seq, payload in SENT.findall(output):
        if "S" in flags:
            first = int(seq)
        number = (int(seq) - first) % 2**32
        sent.append((number, int(payload), round(float(seconds) * 1e6)))
    return tuple(sent)


@dataclass(frozen=True)
class Ours:
    """What the Rust tests say.

    Attributes
    ----------
    rows
        Of each script the mark and what is said.
    times
        How its times compare with Linux's.
    is_as_listed
        Whether what passes and fails is as `scope.rs` has it.
    """

    rows: dict[str, tuple[str, str]]
    times: list[str]
    is_as_listed: bool


def play_on_ours(places: dict[str, Path], linux: dict[str, Played], directory: Path) -> Ours:
    """Play scripts on the simulated TCP, and compare when packets leave."""
    times = directory / "times"
    times.mkdir()
    for name, played in linux.items():
        lines = (" ".join(map(str, each)) + "\n" for each in played.sent)
        (times / name.replace("/", "+")).write_text("".join(lines))
    variables = {SUITES[suite][0]: str(place) for suite, place in places.items()}
    variables["DUMBBELL_PACKETDRILL_TIMES"] = str(times)
    cargo = shutil.which("cargo") or "cargo"
    done = subprocess.run(
        [cargo, "test", "-q", "-p", "dumbbell-tcp", "--test", "packetdrill"],
        cwd=ROOT, capture_output=True, text=True, check=False, env={**os.environ, **variables},
    )  # fmt: skip
    rows = {name: (mark, what) for mark, name, what in ROW.findall(done.stdout)}
    assert rows, done.stderr
    compared = [line for line in done.stdout.splitlines() if line.startswith("times")]
    return Ours(rows, compared, done.returncode == 0)


def table_of(
    linux: dict[str, Played], ours: dict[str, tuple[str, str]]
) -> list[tuple[str, str, str, str]]:
    """Return a row for each script: its name, Linux, ours, and what is said."""
    shown = {"pass": "passes", "FAIL": "fails", "out": "not modelled", "beside": "passes, beside"}
    rows = []
    for name, (mark, what) in ours.items():
        said = linux[name].said
        mark = "FAIL" if mark == "beside" and what != "passes" else mark
        reasons = [f"Linux: {said}"] * bool(said)
        reasons += [what.removeprefix("not modelled: ")] * (mark in ("FAIL", "out"))
        rows.append((name, "fails" if said else "passes", shown[mark], "; ".join(reasons)))
    return rows


def main() -> None:
    """Print the table, and whether repetitions differ."""
    say = sys.stdout.write
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--repetitions", type=int, default=1)
    parser.add_argument("--kernel")
    words = parser.parse_args()
    places = places_of_environment()
    if missing := [suite for suite in SUITES if suite not in places]:
        sys.exit(f"error: set `{SUITES[missing[0]][0]}`, as the first lines of this file say")
    with TemporaryDirectory() as scratch:
        directory = Path(scratch)
        scripts = scripts_in(places) + own_scripts(places, directory)
        program = build_program(places["google"], directory)
        each = []
        for seed in range(1, words.repetitions + 1):
            each.append(play_on_linux(scripts, program, words.kernel, seed, directory / str(seed)))
            changed = [name for name in each[0] if each[-1][name] != each[0][name]]
            say(f"repetition {seed}: differs in {shlex.join(changed) or 'nothing'}\n")
        ours = play_on_ours(places, each[0], directory)
    rows = table_of(each[0], ours.rows)
    for row in rows:
        say(f"{row[0]:<70} {row[1]:<7} {row[2]:<15} {row[3]}\n")
    pairs = [(row[1], row[2]) for row in rows]
    for pair in sorted(set(pairs)):
        say(f"Linux {pair[0]}, ours {pair[1]}: {pairs.count(pair)}\n")
    say("\n".join(ours.times) + "\n")


if __name__ == "__main__":
    main()
