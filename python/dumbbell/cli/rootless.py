"""The kernel engine for a user that is not root: in a user namespace, by util-linux's `unshare`."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from typing import NoReturn

from dumbbell.base.errors import EngineError

__all__ = ["ENTERED", "enter_user_namespace"]

#: Set inside, so that a namespace that gives no privilege is not entered again and again.
ENTERED = "DUMBBELL_USER_NAMESPACE"
UNSHARE = ("unshare", "--user", "--map-root-user", "--")
PROBE_TIMEOUT_S = 10


def enter_user_namespace(
    arguments: Sequence[str], environment: Mapping[str, str] = os.environ
) -> NoReturn:
    """Run the same command line again, as root of a user namespace.

    Files that it writes are the user's own. The namespace is gone with the process.

    Parameters
    ----------
    arguments
        Of the command line, without the program's name.
    environment
        Of this process.

    Raises
    ------
    EngineError
        This machine lets a user make no user namespace.
    """
    if ENTERED in environment:
        raise refusal("it is not root inside a user namespace either")
    probe()
    command = [*UNSHARE, sys.executable, "-m", "dumbbell", *arguments]
    sys.stdout.flush()
    sys.stderr.flush()
    os.execvpe(command[0], command, {**environment, ENTERED: "1"})  # noqa: S606 -- our own words


def probe() -> None:
    """Try whether Python runs in a user namespace: afterwards the reason would be lost."""
    try:
        result = subprocess.run(  # noqa: S603 -- our own words
            [*UNSHARE, sys.executable, "-c", ""],
            capture_output=True,
            text=True,
            timeout=PROBE_TIMEOUT_S,
            check=False,
        )
    except FileNotFoundError:
        raise refusal("there is no `unshare`, which util-linux has") from None
    except (OSError, subprocess.TimeoutExpired) as error:
        raise refusal(f"`unshare` does not run: {error}") from None
    if result.returncode != 0:
        said = " ".join(result.stderr.split()) or f"exit code {result.returncode}"
        raise refusal(f"this machine gives this user none ({said})")


def refusal(reason: str) -> EngineError:
    """Say why it cannot be done, and what can."""
    return EngineError(
        f"the kernel engine needs root or a user namespace, and {reason}; use `sudo`"
    )
