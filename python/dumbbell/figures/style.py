"""How each congestion control algorithm looks, everywhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from dumbbell.congestion_control import short_names
from dumbbell.congestion_control.name_kinds import is_file, is_python_class, split_preset
from dumbbell.congestion_control.quic import split_params

__all__ = [
    "CONNECTION_COLORS",
    "MARKERS",
    "OTHER_COLORS",
    "OWN",
    "PATTERNS",
    "UNKNOWN_COLOR",
    "Style",
    "buffer_colors",
    "cc_label",
    "distinct_colors",
    "distinct_markers",
    "group_colors",
    "shades",
    "style_of",
]


@dataclass(frozen=True)
class Style:
    """A congestion control algorithm's name in print, colour and marker.

    Attributes
    ----------
    label
        As papers write it.
    color
        From Okabe and Ito's palette, which colour-blind readers can distinguish.
    marker
        matplotlib's letter; `report/templates/curves.js` draws the same shapes.
    """

    label: str
    color: str
    marker: str


STYLES = {
    "copa": Style("Copa", "#d55e00", "o"),
    "cubic": Style("CUBIC", "#0072b2", "s"),
    "bbr": Style("BBR", "#009e73", "^"),
    "bbr3": Style("BBRv3", "#8b6d00", "v"),
    "reno": Style("Reno", "#cc79a7", "D"),
    "l3dr": Style("L3DR (reconstruction)", "#e69f00", "P"),
    "bbr_fca": Style("BBR-FCA (reconstruction)", "#56b4e9", "X"),
    "vegas": Style("Vegas", "#7a5195", "p"),
    "dctcp": Style("DCTCP", "#2f4b7c", "*"),
    "prague": Style("Prague", "#6b3d1f", "h"),
    "ledbat": Style("LEDBAT", "#4d7c0f", "<"),
    "nagi": Style("nagi", "#1f7a8c", ">"),
}
#: Of what belongs to no algorithm, and of the kernel's own that are not among ours.
UNKNOWN_COLOR = "#6c6c6c"
#: The user's own algorithm or program, which a figure is about: the strongest colour, and none of
#: ours. On a dark page black is the text's colour.
OWN = Style("", "#000000", "d")
#: For further ones of the user's.
OWN_COLORS = (OWN.color, "#b3003b", "#5b21b6")
#: For further groups of the same congestion control: the rest of the palette.
OTHER_COLORS = ("#e69f00", "#56b4e9", "#8b6d00", "#6c6c6c")
#: Markers for what would have the same as another.
MARKERS = "osD^vPXp<>h*"
#: Kinds of broken lines and of hatches, for grey paper.
PATTERNS = 4
#: Viridis (Smith and van der Walt, CC0) from 0.2 to 0.9 in steps of 0.1: without its ends, of which
#: the light one is invisible on white paper and the dark one on black.
VIRIDIS = (
    "#414487", "#355f8d", "#2a788e", "#21918c", "#22a884", "#44bf70", "#7ad151", "#bddf26",
)  # fmt: skip
#: For connections of a capture whose congestion control algorithm is unknown.
CONNECTION_COLORS = (*(style.color for style in STYLES.values()), *OTHER_COLORS)


def style_of(cc: str) -> Style:
    """Return a CCA's style."""
    if cc.startswith("linux/"):
        # The kernel's own is the same algorithm and looks the same.
        style = style_of(cc.removeprefix("linux/"))
        return Style(f"Linux's {style.label}", style.color, style.marker)
    if is_file(cc) or is_python_class(cc):
        return replace(OWN, label=short_names([cc])[cc])
    return STYLES.get(cc, Style(cc, UNKNOWN_COLOR, "v"))


def cc_label(cc: str) -> str:
    """Return a congestion control algorithm as a figure names it, with its parameters."""
    spelled, params = split_params(cc)
    name, preset = split_preset(spelled)
    return style_of(name).label + f"@{preset}" * bool(preset) + f":{params}" * bool(params)


def group_colors(ccs: Sequence[str]) -> list[str]:
    """Return a colour per group: its CCA's, or another if that is taken."""
    return distinct_colors([style_of(cc) for cc in ccs])


def distinct_colors(styles: Sequence[Style]) -> list[str]:
    """Return a colour per style: its own, or another if that is taken."""
    colors: list[str] = []
    for style in styles:
        own = OWN_COLORS if style.color == OWN.color else ()
        wanted = (style.color, *own, *OTHER_COLORS, *CONNECTION_COLORS)
        colors.append(next((color for color in wanted if color not in colors), UNKNOWN_COLOR))
    return colors


def distinct_markers(styles: Sequence[Style]) -> list[str]:
    """Return a marker per style: its own, or another if that is taken."""
    markers: list[str] = []
    for style in styles:
        wanted = (style.marker, *MARKERS)
        markers.append(next((each for each in wanted if each not in markers), style.marker))
    return markers


def shades(color: str, count: int) -> list[str]:
    """Return a number of shades of a colour, from itself to a light one."""
    parts = [int(color[at : at + 2], 16) for at in (1, 3, 5)]
    lightest = 0.6 if count > 1 else 0.0
    steps = [lightest * index / max(count - 1, 1) for index in range(count)]
    return ["#" + "".join(f"{round(p + (255 - p) * white):02x}" for p in parts) for white in steps]


def buffer_colors(buffers: Sequence[str]) -> dict[str, str]:
    """Return a colour per buffer, dark for small to light for large."""
    anchors = np.array([[int(c[at : at + 2], 16) for at in (1, 3, 5)] for c in VIRIDIS])
    places = np.linspace(0, len(VIRIDIS) - 1, max(len(buffers), 2))
    parts = [np.interp(places, np.arange(len(VIRIDIS)), channel) for channel in anchors.T]
    rows = np.rint(np.array(parts).T).astype(int).tolist()
    return {
        buffer: "#" + "".join(f"{part:02x}" for part in row)
        for buffer, row in zip(buffers, rows, strict=False)
    }
