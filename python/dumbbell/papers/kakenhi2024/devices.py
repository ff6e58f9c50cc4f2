"""The report's figure 1: the longest a real device can delay a packet, buffer over capacity (C5).

The report's own list of devices is not in its text. These are devices whose buffers are stated in
public; makers rarely state them, so the sources are pages that quote the makers' documents and
consoles.
"""

from __future__ import annotations

from typing import NamedTuple

from dumbbell.papers.paper import ResultTable

__all__ = ["DEVICES", "Device", "devices_table"]

#: The start of every source's address.
SOURCES = "https://people.ucsc.edu/~warner/Bufs/"


class Device(NamedTuple):
    """A device, and what one of its ports may queue.

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


def devices_table() -> ResultTable:
    """Tabulate the devices, shortest delay first."""
    return ResultTable(
        title="Figure 1: maximum buffering delay of real devices (not measured: buffer / capacity)",
        columns=("device", "buffer (MB)", "port (Gbit/s)", "delay (ms)", "buffer stated in"),
        rows=tuple(
            (
                device.name,
                f"{device.buffer_bytes / 1e6:g}",
                f"{device.link_rate_bps / 1e9:g}",
                f"{device.delay_ms:.3g}" if device.delay_ms < 1000 else f"{device.delay_ms:.0f}",
                SOURCES + device.source,
            )
            for device in sorted(DEVICES, key=lambda device: device.delay_ms)
        ),
    )
