"""The environment variables that processes of foreign code and compilers get.

Others may hold passwords and tokens, which a process finds in its own memory
even where all else is forbidden.
"""

from __future__ import annotations

import os

from dumbbell.congestion_control.isolation.sandbox import is_confined

__all__ = ["short_environment"]

#: Where programs, Python's modules and temporary files are, and the language of messages.
NAMES = frozenset(
    {
        "HOME", "LANG", "LANGUAGE", "LD_LIBRARY_PATH", "LOGNAME", "PATH", "TMPDIR", "TZ", "USER",
        "VIRTUAL_ENV", "CONDA_PREFIX", "XDG_CACHE_HOME",
        # Compilers'.
        "CC", "COMPILER_PATH", "CPATH", "C_INCLUDE_PATH", "GCC_EXEC_PREFIX", "LIBRARY_PATH",
        "SOURCE_DATE_EPOCH",
    }
)  # fmt: skip
PREFIXES = ("CCACHE_", "DUMBBELL_", "LC_", "NIX_BINTOOLS", "NIX_CC", "NIX_CFLAGS", "NIX_LDFLAGS",
            "PYTHON", "ZIG_")  # fmt: skip


def short_environment() -> dict[str, str]:
    """Return what foreign code may see of this process's environment; all if it is not confined."""
    return {
        name: value
        for name, value in os.environ.items()
        if name in NAMES or name.startswith(PREFIXES) or not is_confined()
    }
