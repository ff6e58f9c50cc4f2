"""Runs of Linux in virtual time that are kept, for machines on which no kernel is built.

``python -m tests.python.virtual_runs`` makes them again in ``tests/data/virtual-runs``, with a
kernel like the one named there, or the newest; ``--check`` compares them with what it does now:

- ``provenance.json``: kernel, digest of what dumbbell adds to it, commit, digests of captures
- ``shares.json``: CUBIC's share next to BBR, Linux's own, a value for each buffer and seed
- a directory for each of `RUNS`, as `Run.save` writes it, with scenario and seed in ``run.json``
"""

from __future__ import annotations

import argparse
import datetime as dt
import hashlib
import json
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from dumbbell import Group, Run, Scenario, run, run_all
from dumbbell.kernels import BuiltKernel, find, kernels

__all__ = ["CELLS", "KEPT", "RUNS", "SEEDS", "built_kernel", "kept", "made_again", "pair",
           "shares_of", "what_runs"]  # fmt: skip

ROOT = Path(__file__).parents[2]
KEPT = ROOT / "tests/data/virtual-runs"
#: Buffers of the pair of which shares are kept, and seeds.
CELLS, SEEDS = ("0.5bdp", "1bdp", "2bdp", "4bdp", "8bdp"), (1, 2, 3)
#: Of 10 s at 20 Mbit/s: the kernel's own, ours with its state, the kernel's own queue, and
#: applications.
RUNS: Mapping[str, tuple[tuple[Group | str, ...], dict[str, Any]]] = {
    "linux-cubic-linux-bbr": (("linux/cubic", "linux/bbr"), {"buffer": "1bdp"}),
    "copa-cubic": (("copa", "cubic"), {"buffer": "2bdp"}),
    "kernel-fq_codel": (
        (Group("linux/cubic", ecn=True), "linux/reno"),
        {"queue": "kernel:fq_codel"},
    ),
    "applications": (
        (
            Group("linux/cubic", traffic="rpc:request=100B,response=10kB,think=100ms"),
            Group("linux/reno", traffic="page:reading=1s"),
            Group("linux/cubic", traffic="datagram:preset=voip"),
        ),
        {"buffer": "1bdp", "sample": "2s"},
    ),
}
#: What differs between machines and builds of the same: CPUs, and what algorithms declare.
OF_THE_MACHINE = {"engine_version", "engine_build", "build", "source", "declared", "cpus"}


def pair(buffer: str, seed: int, prefix: str = "linux/") -> Scenario:
    """Return the scenario of a cell, of the kernel's own algorithms or of ours."""
    words: dict[str, Any] = {"rate": "50mbit", "rtt": "40ms", "time": "60s", "sample": "10s"}
    return Scenario([f"{prefix}cubic", f"{prefix}bbr"], buffer=buffer, seed=seed, **words)


def kept(name: str) -> dict[str, Any]:
    """Read `provenance` or `shares`."""
    read: dict[str, Any] = json.loads((KEPT / f"{name}.json").read_text(encoding="utf-8"))
    return read


def built_kernel() -> BuiltKernel | None:
    """Return a kernel like that of the kept runs; one of another recipe has other phases."""
    wanted = kept("provenance")["kernel"]
    same = ("release", "hz", "recipe")
    ready = (each for each in kernels() if each.is_ready)
    alike = (it for it in ready if all(getattr(it, key) == wanted[key] for key in same))
    return next(alike, None)


def made_again(name: str, kernel: BuiltKernel) -> tuple[Run, str]:
    """Run one of `RUNS`; also the digest of its capture."""
    groups, words = RUNS[name]
    path: dict[str, Any] = {"rate": "20mbit", "rtt": "20ms", "time": "10s", "sample": "500ms"}
    scenario = Scenario(list(groups), **{**path, **words})
    with TemporaryDirectory() as scratch:
        capture = Path(scratch) / "capture.pcapng"
        made = run(scenario, engine=f"uml:{kernel.name}", capture=capture)
        digest = hashlib.sha256(capture.read_bytes()).hexdigest()
    made.capture = None
    return made, digest


def what_runs(of: Run) -> dict[str, Any]:
    """Return all of a run that does not differ between machines."""

    def portable(value: Any) -> Any:
        if isinstance(value, Mapping):
            return {key: portable(value[key]) for key in value if key not in OF_THE_MACHINE}
        return [portable(each) for each in value] if isinstance(value, list) else value

    tables = {name: of.tables[name].to_pydict() for name in of.tables}
    return {"run": portable(of.to_dict()), "tables": tables}


def shares_of(engine: str, prefix: str, seeds: Iterable[int]) -> dict[str, list[float]]:
    """Return the first group's share in each cell, a value for each seed."""
    keys = [(buffer, seed) for buffer in CELLS for seed in seeds]
    runs = run_all(((key, pair(*key, prefix)) for key in keys), engine=engine)
    shares: dict[str, list[float]] = {buffer: [] for buffer in CELLS}
    for (buffer, _), done in runs.items():
        shares[buffer].append(done.groups[0]["share"])
    return shares


def make(kernel: BuiltKernel) -> None:
    """Make everything that is kept."""
    git, record = shutil.which("git") or "git", kernel.to_record()
    commit = subprocess.run(
        [git, "describe", "--always", "--dirty", "--abbrev=40"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    captures = {}
    for name in RUNS:
        made, captures[name] = made_again(name, kernel)
        made.save(KEPT / name, texts=False)
    provenance = {
        "made_by": "python -m tests.python.virtual_runs",
        "made_on": dt.datetime.now(dt.UTC).date().isoformat(),
        "dumbbell": commit.stdout.strip(),
        "kernel": {key: record[key] for key in ("release", "hz", "recipe", "origin", "compiler")},
        "captures_sha256": captures,
    }
    shares = shares_of(f"uml:{kernel.name}", "linux/", SEEDS)
    for name, value in (("shares", shares), ("provenance", provenance)):
        (KEPT / f"{name}.json").write_text(json.dumps(value, indent=1) + "\n", encoding="utf-8")


def differences(kernel: BuiltKernel) -> list[str]:
    """Return what is not as it is kept."""
    found, captures = [], kept("provenance")["captures_sha256"]
    for name in RUNS:
        made, capture = made_again(name, kernel)
        if what_runs(made) != what_runs(Run.load(KEPT / name)) or capture != captures[name]:
            found.append(f"{name} differs")
    if shares_of(f"uml:{kernel.name}", "linux/", SEEDS) != kept("shares"):
        found.append("shares differ")
    return found


def main() -> int:
    """Make the runs, or compare them."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="compare; write nothing")
    is_check = parser.parse_args().check
    kernel = built_kernel() if KEPT.exists() else None
    if not is_check:
        make(kernel or find(None))
        return 0
    if kernel is None:
        sys.exit(f"no kernel of Linux {kept('provenance')['kernel']['release']} is built")
    found = differences(kernel)
    sys.stdout.write("\n".join(found or [f"all as kept, on Linux {kernel.release}"]) + "\n")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
