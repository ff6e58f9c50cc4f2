"""The check of how foreign code was confined."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from dumbbell.run.verdict.reason import WARN, Reason

__all__ = ["check_sandbox"]


def check_sandbox(summary: Mapping[str, Any]) -> Iterator[Reason]:
    """Foreign code ran in a sandbox, and that was complete."""
    sandbox = summary.get("sandbox")
    if sandbox is None:
        return
    if not sandbox["confined"]:
        yield Reason(
            WARN,
            "sandbox",
            "foreign code ran without the sandbox (`--unsafe-no-sandbox`): it could read, change "
            "and send all that its user can, this result included",
        )
    for lacking in sandbox["missing"]:
        yield Reason(WARN, "sandbox", f"the kernel lacks {lacking['piece']}: {lacking['cost']}")
