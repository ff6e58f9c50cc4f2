"""What the papers' hosts ran: parameters of CCAs as of Linux 4.12 and 4.15.

docs/bbr.md ("Earlier versions") and docs/copa.md have each parameter with its source. The papers'
plain set-up has `BBR_BEFORE_5_1` only.
"""

from __future__ import annotations

from collections.abc import Mapping

from dumbbell.congestion_control import BBR_BEFORE_5_1, BBR_OVER_PACING, PRESETS

__all__ = [
    "BBR_4_12",
    "BBR_4_12_UNPACED",
    "BBR_4_15",
    "BBR_BEFORE_5_1",
    "COPA_CCP_KERNEL",
    "OVER_PACING",
    "spelled",
]

#: BBR of Linux 4.15, paced by TCP itself.
BBR_4_15 = PRESETS["bbr"]["linux-4.15"].params
#: BBR of Linux 4.12, paced by the queue discipline ``fq``: 0.9 % below the bandwidth.
BBR_4_12 = PRESETS["bbr"]["linux-4.12"].params
#: BBR of Linux 4.12 without ``fq``: not paced at all.
BBR_4_12_UNPACED = PRESETS["bbr"]["linux-4.12-unpaced"].params
#: ccp_copa's agent and ccp-kernel on Linux 4.15.
COPA_CCP_KERNEL = PRESETS["copa"]["ccp-4.15"].params
#: How far above the bandwidth TCP itself paced.
OVER_PACING = BBR_OVER_PACING


def spelled(name: str, parameters: Mapping[str, int]) -> str:
    """Return a congestion control algorithm with parameters as the command line has it."""
    return f"{name}:" + ",".join(f"{each}={value}" for each, value in parameters.items())
