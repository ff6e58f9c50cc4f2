"""How each congestion control looks, everywhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dumbbell.scenario import Scenario

__all__ = [
    "CONNECTION_COLORS",
    "UNKNOWN_COLOR",
    "Style",
    "buffer_colors",
    "cc_label",
    "group_colors",
    "group_labels",
    "style_of",
]


@dataclass(frozen=True)
class Style:
    """A congestion control's name in print, colour and marker.

    Attributes
    ----------
    label
        As papers write it.
    color
        From Okabe and Ito's palette, told apart by colour-blind readers too.
    marker
        matplotlib's letter; `plots.interactive` has plotly's name for it.
    """

    label: str
    color: str
    marker: str


STYLES = {
    "copa": Style("Copa", "#0072b2", "o"),
    "cubic": Style("CUBIC", "#d55e00", "s"),
    "bbr": Style("BBR", "#009e73", "^"),
    "bbr3": Style("BBRv3", "#8b6d00", "v"),
    "reno": Style("Reno", "#cc79a7", "D"),
    "l3dr": Style("L3DR (reconstruction)", "#e69f00", "P"),
    "bbr_fca": Style("BBR-FCA (reconstruction)", "#56b4e9", "X"),
    "vegas": Style("Vegas", "#7a5195", "p"),
    "dctcp": Style("DCTCP", "#2f4b7c", "*"),
}
UNKNOWN_COLOR = "#6c6c6c"
#: For groups that would look alike otherwise: the rest of the palette.
OTHER_COLORS = ("#e69f00", "#56b4e9", "#8b6d00", "#6c6c6c")
#: For connections of a capture, which have no congestion control that one could know.
CONNECTION_COLORS = (*(style.color for style in STYLES.values()), *OTHER_COLORS)


def style_of(cc: str) -> Style:
    """Return a congestion control's style; one's own gets its name and a neutral grey."""
    if cc.startswith("linux/"):
        # The kernel's own is the same algorithm, and looks like it.
        style = style_of(cc.removeprefix("linux/"))
        return Style(f"Linux's {style.label}", style.color, style.marker)
    return STYLES.get(cc, Style(cc, UNKNOWN_COLOR, "v"))


def cc_label(cc: str) -> str:
    """Return a congestion control as it is written in a figure, parameters kept."""
    name, colon, params = cc.partition(":")
    return style_of(name).label + colon + params


def group_labels(scenario: Scenario) -> list[str]:
    """Return the groups' names in a figure: the styles' where they tell the groups apart."""
    return [
        cc_label(label) if label == str(group.cc) else label
        for group, label in zip(scenario.groups, scenario.group_labels, strict=True)
    ]


def group_colors(ccs: Sequence[str]) -> list[str]:
    """Return a colour per group: its congestion control's, or another if a group before has it."""
    colors: list[str] = []
    for cc in ccs:
        wanted = (style_of(cc).color, *OTHER_COLORS, *CONNECTION_COLORS)
        colors.append(next((color for color in wanted if color not in colors), UNKNOWN_COLOR))
    return colors


def buffer_colors(buffers: Sequence[str]) -> dict[str, str]:
    """Return a colour per buffer, dark for small to light for large.

    Viridis without its lightest end, which a white page swallows, and its darkest, which a
    black one does.
    """
    import matplotlib as mpl  # takes longer to load than a short run

    palette = mpl.colormaps["viridis"]
    steps = max(len(buffers) - 1, 1)
    return {
        buffer: mpl.colors.to_hex(palette(0.2 + 0.7 * index / steps))
        for index, buffer in enumerate(buffers)
    }
