"""What groups got each way of a path between a client and a server."""

from __future__ import annotations

from dumbbell.metrics.metric import PERCENT, register
from dumbbell.metrics.observation import Observation
from dumbbell.run.directions import WAYS, has_both_ways, program_ways

__all__ = [
    "client_to_server_goodput_bps", "client_to_server_share", "server_to_client_goodput_bps",
    "server_to_client_share",
]  # fmt: skip

DOWN, UP = WAYS


@register(unit="bit/s", title="goodput, server → client", better="higher", per="group")
def server_to_client_goodput_bps(obs: Observation) -> list[float | None]:
    """Goodput of a group from server to client: 8 · bytes that reached the client / time.

    Only of runs of programs in which data went both ways. The time is that of `goodput_bps`. None
    of a group that sent no data this way, and after a warm-up: the time series have both ways
    together.

    References
    ----------
    RFC 5166 §2.1.1.
    """
    return of_way(obs, DOWN, "goodput_bps")


@register(unit="bit/s", title="goodput, client → server", better="higher", per="group")
def client_to_server_goodput_bps(obs: Observation) -> list[float | None]:
    """Goodput of a group from client to server, as `server_to_client_goodput_bps`.

    References
    ----------
    RFC 5166 §2.1.1.
    """
    return of_way(obs, UP, "goodput_bps")


@register(title="share, server → client", per="group", shown=PERCENT)
def server_to_client_share(obs: Observation) -> list[float | None]:
    """Share of a group from server to client: its bytes that reached the client / those of all.

    Only of runs of programs in which data went both ways, where `share` has no value. Of bytes, not
    of rates. None of a group that sent no data this way, and after a warm-up.

    References
    ----------
    The papers' "throughput share": Ware et al., "Modeling BBR's interactions with loss-based
    congestion control", IMC 2019.
    """
    return of_way(obs, DOWN, "share")


@register(title="share, client → server", per="group", shown=PERCENT)
def client_to_server_share(obs: Observation) -> list[float | None]:
    """Share of a group from client to server, as `server_to_client_share`.

    References
    ----------
    The papers' "throughput share": Ware et al., "Modeling BBR's interactions with loss-based
    congestion control", IMC 2019.
    """
    return of_way(obs, UP, "share")


def of_way(obs: Observation, name: str, key: str) -> list[float | None]:
    """Return what each group got one way, if data went both."""
    values: list[float | None] = [None] * len(obs.members)
    if obs.whole and has_both_ways(obs.run):
        for got in program_ways(obs.run)[name].groups:
            values[got.group] = getattr(got, key)
    return values
