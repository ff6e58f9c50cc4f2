"""Identification of the congestion control algorithm in a capture: docs/identify.md.

`trace.py` comes first: what the sender did over time. `rounds.py` divides that into round trips and
epochs between losses, `features/` makes numbers of them, `laws.py` has what known algorithms do.
`model.py` reads the trained model, which `dumbbell_studies.identification` makes.
"""

from dumbbell.identify.datagram_flows import DatagramFlow
from dumbbell.identify.datagram_trace import datagram_trace_of
from dumbbell.identify.features import FEATURES, features_of
from dumbbell.identify.floats import Floats
from dumbbell.identify.flows import Flow
from dumbbell.identify.forest import Forest
from dumbbell.identify.identification import (
    Identification,
    Identified,
    identify,
    identify_flow,
    identify_quic_flow,
)
from dumbbell.identify.model import (
    AT_SENDER,
    ELSEWHERE,
    Model,
    NamingRule,
    Opinion,
    as_one_of,
    softmax,
)
from dumbbell.identify.picture import draw_identification
from dumbbell.identify.probe import probe
from dumbbell.identify.reading import datagram_flows_in, flows_in
from dumbbell.identify.rounds import rounds_of
from dumbbell.identify.save import save_identification
from dumbbell.identify.trace import Trace, trace_of
from dumbbell.identify.typicality import (
    SURPRISES,
    TAILS,
    Typicality,
    path_terms,
    scatter_terms,
    without_hosts,
)

__all__ = [
    "AT_SENDER", "ELSEWHERE", "FEATURES", "SURPRISES", "TAILS", "DatagramFlow", "Floats", "Flow",
    "Forest", "Identification", "Identified", "Model", "NamingRule", "Opinion", "Trace",
    "Typicality", "as_one_of", "datagram_flows_in", "datagram_trace_of", "draw_identification",
    "features_of", "flows_in", "identify", "identify_flow", "identify_quic_flow", "path_terms",
    "probe", "rounds_of", "save_identification", "scatter_terms", "softmax", "trace_of",
    "without_hosts",
]  # fmt: skip
