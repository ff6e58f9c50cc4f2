"""Values of options that need no conversion, without pydantic.

typer converts every value by pydantic, also that of an option that is not given. Importing it takes
longer than a short run.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

__all__ = ["take_text_as_it_is"]


class TextOrOther:
    """What typer asks for an option's value: text is one already, the rest it converts itself."""

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        """Return an option's value as its command takes it."""
        is_list = param.multiple or param.nargs == -1
        if value is None:
            return () if is_list else None
        kind = param.type_descriptor
        if kind.parameter_info.parser is None:
            if kind.annotation is str and is_text(value):
                return value
            is_given = kind.annotation == list[str] and isinstance(value, (list, tuple))
            if is_given and all(map(is_text, value)):
                return list(value)
        param._runtime_param = None  # noqa: SLF001 -- typer then makes its own
        return param.get_runtime_param().coerce(value, param, ctx)


def is_text(value: object) -> bool:
    """Whether a value is text in any encoding; pydantic refuses some that is not."""
    return type(value) is str and value.isascii()


def take_text_as_it_is(params: Iterable[Any]) -> None:
    """Let the options of a command take text as it is."""
    for param in params:
        param._runtime_param = TextOrOther()  # noqa: SLF001
