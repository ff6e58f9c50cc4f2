"""A matplotlib figure that notebooks show."""

from __future__ import annotations

import io

from matplotlib.figure import Figure

__all__ = ["Canvas"]

PNG_DPI = 150


class Canvas(Figure):
    """A matplotlib figure that notebooks show without pyplot."""

    def _repr_png_(self) -> bytes:
        file = io.BytesIO()
        self.savefig(file, format="png", dpi=PNG_DPI)
        return file.getvalue()
