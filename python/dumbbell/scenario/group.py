"""A group of a scenario: flows that are alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY
from typing import Any

from dumbbell.base.errors import ScenarioError
from dumbbell.base.quantities.quantity import Size, Time
from dumbbell.congestion_control import CongestionControlChoice
from dumbbell.congestion_control.name_kinds import KERNELS_DEFAULT
from dumbbell.scenario.dscp import Codepoint, Dscp
from dumbbell.scenario.fields import FLOWS, Field, Of, documented, fields_of, part_of_group
from dumbbell.scenario.flows import MAX_FLOWS, Flows
from dumbbell.scenario.host import Host
from dumbbell.scenario.kinds import Measure
from dumbbell.scenario.program import Command, CommandLine, Pattern, Ports, PortsOf

__all__ = ["DEFAULT_MSS", "HEADER_BYTES", "MAX_FLOWS", "Group"]

#: Payload of a full segment on Ethernet with timestamps: 1500 - 20 (IP) - 20 (TCP) - 12 (options).
DEFAULT_MSS = "1448B"
#: Everything around the payload on the wire: Ethernet 14, IP 20, TCP 20, timestamps 12.
HEADER_BYTES = 66
ETHERNET_BYTES = 14
#: Largest payload of a segment: an IP packet has 65,535 bytes, headers included (RFC 791 §3.1).
MAX_MSS_BYTES = 65_535 - 52
#: MTU of Ethernet; the smallest with which there is IPv6 (RFC 8200 §5), and the largest of a TUN
#: device that carries super-packets.
DEFAULT_MTU, MIN_MTU_BYTES, MAX_MTU_BYTES = "1500B", 1280, 65_000
#: What of a group is of our own flows, and cannot be said of a program's.
OF_OUR_FLOWS = ("flows", "stop", "size", "traffic", "nagle", "dscp", "mss")
#: What only a program has, besides its `client`.
OF_PROGRAMS = ("server", "ready", "measure", "mtu")


@documented
@part_of_group
class Group(Host, Flows):
    """Flows that are alike, or programs of the user."""

    _: KW_ONLY
    dscp: Field[Dscp, int | str] = Field(
        Codepoint(), 0, panel=FLOWS, example="ef", per_group=True, sparse=True, engine="dscp",
        default_note="best effort", synonyms=("tos", "ds", "diffserv", "priority", "traffic_class"),
        doc="Differentiated services codepoint of the packets, both ways: a name (`ef`, `cs1`, "
        "`af41`, `le`) or a number. Only queues that look at it treat packets differently.",
    )  # fmt: skip

    client: Field[Command | None, str | Sequence[str] | None] = Field(
        CommandLine(), None, panel=FLOWS, example="curl -so /dev/null http://server/file",
        option=False, axis=False, sparse=True, engine="program",
        convert=lambda _, group, __: group.program(), default_note="none",
        synonyms=("command", "program", "cmd", "exec"),
        doc="A program instead of flows of ours (kernel engine only, `dumbbell help emulate`): "
        "its command runs in the receiver's host, and its name for the other host is `server`. "
        "Text is split as in a shell, which does not run.",
    )  # fmt: skip
    server: Field[Command | None, str | Sequence[str] | None] = Field(
        CommandLine(), None, panel=FLOWS, example="python3 -m http.server 80", option=False,
        axis=False, sparse=True, default_note="none", synonyms=("serve", "daemon"),
        doc="With `client`: the command in the sender's host, started first and ended with the "
        "run. What it sends crosses the group's `route`.",
    )  # fmt: skip
    ready: Field[Ports | None, str | Sequence[str] | None] = Field(
        PortsOf(), None, panel=FLOWS, example="tcp:80", option=False, axis=False, sparse=True,
        default_note="nothing", synonyms=("port", "ports", "wait_for", "listen"),
        doc="With `server`: ports that must be open there before the client starts, `tcp:80` or "
        "`udp:443`, a list or with commas between.",
    )  # fmt: skip
    measure: Field[str | None, str | None] = Field(
        Pattern(), None, panel=FLOWS, example=r"speed: (\S+)", option=False, axis=False,
        sparse=True, default_note="nothing", synonyms=("regex", "result"),
        doc="With `client`: a regular expression whose group is a number that the client prints, "
        "which becomes the metric `measured`; the last that is found counts.",
    )  # fmt: skip
    mtu: Of[Size] = Field(
        Measure(Size), DEFAULT_MTU, panel=FLOWS, example="1400B", option=False,
        sparse=True, synonyms=("max_packet", "packet_size"),
        doc="With `client`: the largest IP packet of both hosts.",
    )  # fmt: skip

    def __post_init__(self) -> None:
        if self.client is None:
            self._check_without_program()
        else:
            self._check_program()
        self._check_segment()
        self._check_stop()
        if self.gso and not self.tso:
            raise ScenarioError(
                "`gso` keeps bursts of segments together, and without `tso` there are none; set "
                "`tso`, or omit `gso`",
                key="gso",
            )
        if self.size is not None and not self.traffic.is_bulk:
            raise ScenarioError(
                f"size `{self.size}` cannot be combined with traffic `{self.traffic.name}`; remove "
                "one, or set a parameter of the traffic",
                key="size",
            )

    def _is_set(self, name: str) -> bool:
        """Whether a field has another value than its default."""
        return not fields_of(Group)[name].is_default(getattr(self, name))

    def _check_without_program(self) -> None:
        """Refuse what needs a program."""
        if vars(self)["cc"] is None:
            raise TypeError("Group() needs `cc`")
        for name in filter(self._is_set, OF_PROGRAMS):
            instead = "; of our own flows it is their `mss`" if name == "mtu" else ""
            message = f"`{name}` needs the `client` of a program; add one{instead}"
            raise ScenarioError(message, key=name)

    def _check_program(self) -> None:
        """Refuse what does not go with a program."""
        if vars(self)["cc"] is None:
            vars(self)["cc"] = CongestionControlChoice(KERNELS_DEFAULT)
        for name in filter(self._is_set, OF_OUR_FLOWS):
            instead = "use `mtu`" if name == "mss" else "remove one"
            raise ScenarioError(
                f"`{name}` cannot be combined with a `client`, whose program decides what is "
                f"sent; {instead}",
                key=name,
            )
        if self.ready and self.server is None:
            raise ScenarioError(f"ready `{self.ready}` needs a `server`; add one", key="ready")
        if not MIN_MTU_BYTES <= self.mtu <= MAX_MTU_BYTES:
            how = "large" if self.mtu > MAX_MTU_BYTES else "small"
            message = f"mtu `{self.mtu}` is too {how}; use {MIN_MTU_BYTES} to {MAX_MTU_BYTES} bytes"
            raise ScenarioError(message, key="mtu")

    def program(self) -> dict[str, Any]:
        """Return its programs as the engine takes them."""
        return {
            "client": list(self.client or ()),
            "server": list(self.server or ()),
            "ready": self.ready.to_engine() if self.ready else [],
            "mtu_bytes": int(self.mtu),
        }

    def _check_segment(self) -> None:
        """Refuse a segment that no packet or window holds."""
        if self.mss > MAX_MSS_BYTES:
            raise ScenarioError(
                f"mss `{self.mss}` does not fit in an IP packet; use at most `{MAX_MSS_BYTES}B`",
                key="mss",
            )
        for name, window in (("rwnd", self.rwnd), ("sndbuf", self.sndbuf)):
            if window >= self.mss:
                continue
            if str(self.mss) != DEFAULT_MSS:
                raise ScenarioError(
                    f"mss `{self.mss}` is larger than {name} `{window}`; use a smaller `mss` or a "
                    f"larger `{name}`",
                    key="mss",
                )
            message = f"{name} `{window}` is smaller than a segment; use at least `{self.mss}`"
            raise ScenarioError(message, key=name)

    def _check_stop(self) -> None:
        """Refuse flows that stop before they start."""
        if self.stop is None:
            return
        if self.stop <= self.start:
            raise ScenarioError(
                f"`{self.called}` flows stop at {self.stop}, before they start at {self.start}",
                key="stop",
            )
        if self.stop <= self.latest_start:
            raise ScenarioError(
                f"{self._late_start()}, not before they stop at {self.stop}; "
                "use a smaller `jitter` or a later `stop`",
                key="stop",
            )

    @property
    def called(self) -> str:
        """What errors call it: its name, or its congestion control algorithm."""
        return self.name or str(self.cc)

    @property
    def latest_start(self) -> Time:
        """When the last of them may start."""
        return Time(self.start + self.jitter)

    def _late_start(self) -> str:
        return (
            f"flows of `{self.called}` may start as late as {self.latest_start} "
            f"(start {self.start} + jitter {self.jitter})"
        )

    def check_within(self, end: Time) -> None:
        """Refuse flows that may start only after the end.

        Parameters
        ----------
        end
            Simulated time of the scenario.
        """
        if self.start >= end:
            raise ScenarioError(
                f"`{self.called}` flows never start: start `{self.start}` is not before "
                f"the end at `{end}`; use an earlier `start` or a longer `time`",
                key="start",
            )
        if self.latest_start >= end:
            raise ScenarioError(
                f"{self._late_start()}, not before the end at {end}; "
                "use `--jitter 0s` or a longer `--time`",
                key="jitter",
            )

    @property
    def segment_bytes(self) -> int:
        """Payload of a full segment: of a program's, what its hosts' MTU leaves."""
        if self.client is None:
            return int(self.mss)
        return int(self.mtu) + ETHERNET_BYTES - HEADER_BYTES

    @property
    def packet_bytes(self) -> int:
        """Size of a full segment on the wire."""
        return self.segment_bytes + HEADER_BYTES
