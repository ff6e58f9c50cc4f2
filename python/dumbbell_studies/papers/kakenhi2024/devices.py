"""Devices, and what one of their ports can queue (C5)."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["DEVICES", "SOURCES"]

#: The start of every source's address.
SOURCES = "https://people.ucsc.edu/~warner/Bufs/"


class Device(NamedTuple):
    """A device, and what one of its ports can queue (C5).

    Attributes
    ----------
    name
        Of the device, and which limit it is.
    buffer_bytes
        What one port's queue may take.
    link_rate_bps
        Of the port.
    source
        Page under `SOURCES` that states the buffer.
    """

    name: str
    buffer_bytes: int
    link_rate_bps: int
    source: str

    @property
    def delay_ms(self) -> float:
        """Buffer over capacity."""
        return 8e3 * self.buffer_bytes / self.link_rate_bps


DEVICES = (
    Device("Juniper QFX3500, whole buffer", 9_360_000, 10**10, "QFX3500.html"),
    Device("Arista 7500R, limit of a queue", 500_000_000, 10**11, "arista7500R.html"),
    Device("Arista 7500R, limit of a queue", 50_000_000, 10**10, "arista7500R.html"),
    Device("Arista 7500R, limit of a queue", 12_500_000, 10**9, "arista7500R.html"),
    Device("Arista 7500R2, whole buffer of a chip", 4 * 10**9, 10**11, "7500R2.html"),
    Device("Arista 7280R3, whole buffer of a chip", 8 * 10**9, 10**11, "7280R3.html"),
    Device("Arista 7280R3, whole buffer of a chip", 8 * 10**9, 10**10, "7280R3.html"),
)
