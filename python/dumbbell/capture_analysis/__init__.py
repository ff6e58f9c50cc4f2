"""What the connections in a capture did: anyone's pcap or pcapng, and our own."""

from dumbbell.capture_analysis.analysis import Analysis
from dumbbell.capture_analysis.analyze import analyze
from dumbbell.capture_analysis.matching import Match, match_captures
from dumbbell.capture_analysis.packet_log import PacketLog, packet_log
from dumbbell.capture_analysis.vantage import Note

__all__ = ["Analysis", "Match", "Note", "PacketLog", "analyze", "match_captures", "packet_log"]
