"""What the connections in a capture did: anyone's pcap or pcapng, and our own."""

from dumbbell.analysis.analysis import Analysis
from dumbbell.analysis.analyze import analyze
from dumbbell.analysis.matching import Match, match_captures
from dumbbell.analysis.vantage import Note

__all__ = ["Analysis", "Match", "Note", "analyze", "match_captures"]
