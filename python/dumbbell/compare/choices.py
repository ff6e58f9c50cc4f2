"""Axes of a sweep are choices, or the conditions under which one chooses."""

from __future__ import annotations

from dumbbell.sweeps import Cell
from dumbbell.sweeps.design import Design, label_of
from dumbbell.sweeps.field import field_of

__all__ = ["condition_axes", "conditions_of"]

#: Fields that somebody sets: of a queue, of the hosts. A rate, an RTT or traffic is what there is.
CHOSEN = frozenset(
    {
        "cc", "queue", "buffer", "ecn", "ecn_threshold", "accecn_option", "dscp", "rwnd", "sndbuf",
        "sndbuf_auto", "tcp_mem", "tcp", "receiver", "tso", "gso", "gro", "delayed_ack", "nagle",
        "slow_start_after_idle", "mss", "mtu",
    }
)  # fmt: skip


def condition_axes(design: Design) -> tuple[str, ...]:
    """Return the names of a sweep's axes that are conditions, not choices.

    A buffer is a choice beside a queue discipline, and a condition where algorithms are compared.
    Axes that change together are a choice if one of them is.
    """
    fields = {axis.name: field_of(axis.name, design.scenario) for axis in design.axes}
    compared = any(field.key == "cc" or field.is_parameter for field in fields.values())
    chosen = CHOSEN - {"buffer"} if compared else CHOSEN

    def is_choice(name: str) -> bool:
        field = fields[name]
        return field.is_parameter or (field.key in chosen and not field.is_of_traffic)

    return tuple(name for names in design.dims if not any(map(is_choice, names)) for name in names)


def conditions_of(cell: Cell, axes: tuple[str, ...]) -> tuple[str, ...]:
    """Return a cell's values of the axes that are conditions."""
    return tuple(label_of(cell.values[name]) for name in axes)
