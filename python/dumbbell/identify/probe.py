"""Runs a client over a path on which algorithms differ, and captures what is sent to it."""

from __future__ import annotations

import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from dumbbell.base.errors import EngineError

__all__ = ["PROFILE", "probe"]

#: The path: with a BDP of 100 packets and a buffer as large, a window that is cut to 0.7 or less
#: empties the queue, and one of Reno's grows for 5 s between losses. An RTT of 60 ms is above
#: Hybla's 25 ms, the BDP above HighSpeed's 38 packets (RFC 3649 §5).
PROFILE = {"--rate": "20mbit", "--rtt": "60ms", "--buffer": "1bdp"}
#: What keeps the answer of others than a local server from being late: nothing on the way up.
UP = {"--up-rate": "1gbit", "--up-buffer": "10000pkt"}


def probe(
    command: str,
    capture: Path,
    *,
    serve: Sequence[str] = (),
    ready: Sequence[str] = (),
    virtual: bool = False,
) -> int:
    """Run a command over the path, and capture at both ends.

    Parameters
    ----------
    command
        Of the client, as typed in a shell: it downloads for 30 s or more.
    capture
        The pcapng file to write.
    serve
        Programs that run at the server, ``server`` by name. Without any the client reaches the
        Internet through the path.
    ready
        Ports to wait for at the server, like ``tcp:80``.
    virtual
        Run on a kernel of `dumbbell kernel`, in virtual time.

    Returns
    -------
    int
        The command's exit code.

    Raises
    ------
    EngineError
        There is no command.
    """
    words = shlex.split(command)
    if not words:
        raise EngineError(
            "--probe: no command; use one that downloads, e.g. `curl -so /dev/null URL`"
        )
    arguments = [
        *(word for pair in {**PROFILE, **UP}.items() for word in pair),
        *(word for program in serve for word in ("--serve", program)),
        *(word for port in ready for word in ("--ready", port)),
        *([] if serve else ["--internet"]),
        *(["--virtual"] if virtual else []),
        "--capture", str(capture), "--quiet", "--", *words,
    ]  # fmt: skip
    called = [sys.executable, "-m", "dumbbell", "emulate", *arguments]
    # The command is the user's own, as `emulate` runs it.
    return subprocess.run(called, check=False).returncode  # noqa: S603
