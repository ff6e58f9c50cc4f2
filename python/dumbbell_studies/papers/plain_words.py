"""Findings and their answers in a few words, for readers who do not know the papers."""

from __future__ import annotations

import re

__all__ = ["ELEMENT_WORDS", "PLAIN_WORDS", "in_plain_words"]

#: By the finding's id.
PLAIN_WORDS = {
    "A1": "In a small buffer Copa gets more than CUBIC, and the delay stays low.",
    "A2": "The larger the buffer, the more CUBIC takes from Copa, and the longer the delay.",
    "A3": "Four of each: Copa ahead in small buffers, CUBIC gains as they grow.",
    "A4": "At 32 BDP Copa and CUBIC together lose throughput to timeouts.",
    "A5": "tcptrace counts too many of Copa's packets as in flight where packets are lost.",
    "A6": "One Copa, one BBR: BBR ahead in small buffers, about equal from 4 BDP on.",
    "A7": "Four of each: BBR ahead in small buffers, Copa in large ones, less fairly than one "
    "against one.",
    "B1": "Copa flows fill the link, however many.",
    "B2": "With 64 Copa flows or more the delay grows.",
    "B3": "64 Copa flows or more take each other for buffer-fillers, and go on doing so.",
    "C1": "128 BBR flows build a queue of several hundred ms.",
    "C2": "L3DR keeps delay and losses low with many flows.",
    "C3": "CUBIC's throughput follows from the time between its losses.",
    "C4": "BBR-FCA is fairer to CUBIC than BBR is.",
    "C5": "Real routers can hold packets for hundreds of ms to tens of seconds.",
    "D1": "BBR alone fills the link, whatever the buffer.",
    "D2": "BBR is ahead of CUBIC in small buffers and behind in large ones.",
    "D3": "In large buffers BBR and CUBIC together lose throughput to timeouts.",
}

#: An element of the papers' apparatus, by its id.
ELEMENT_WORDS = {
    "rwnd": "the receive window",
    "sndbuf": "the send buffer",
    "ooo_limit": "a limit of segments above a hole",
    "single_segments": "no segmentation offload",
    "noise": "noise of the RTT",
    "starts": "processes that start in turn",
    "order": "the order of starts",
    "phase": "an RTT longer by part of a packet's time",
    "bbr_ack_aggregation": "BBR's estimate of ACK aggregation",
    "bbr_min_rtt_ties": "a min_rtt that ties do not renew",
    "gso": "super-packets",
    "tclink_htb": "Mininet's link (htb)",
    "tclink_tbf": "Mininet's link (tbf)",
    "tcp_4_15": "the TCP of Linux 4.15",
    "tcp_4_12": "the TCP of Linux 4.12",
    "tcp_mem": "little memory for TCP",
    "ooo_memory": "memory for data above a hole",
    "timer_lateness": "late pacing timers",
    "bbr_over_pacing": "BBR that paces too fast",
    "bbr_4_15": "the BBR of Linux 4.15",
    "bbr_4_12": "the BBR of Linux 4.12",
    "copa_agent": "CCP's agent",
    "dummynet": "FreeBSD's router",
    "receiver_freebsd": "FreeBSD's receiver",
}
#: An element with its level; `on` and `whole` say no more than the element.
TREATMENT = re.compile(rf"\b({'|'.join(ELEMENT_WORDS)}): (on\b|whole\b|)")
#: The elements that a sentence lists.
CANDIDATES = re.compile(r"((?:candidates is added|only candidate): )(\w+(?:, \w+)*)")
#: The name of a preset.
PRESET = re.compile(r"(`[a-z]+-[-a-z0-9]+`)")


def in_plain_words(answer: str) -> str:
    """Return an answer with elements and the paper's preset in words instead of by their ids."""

    def treatment(found: re.Match[str]) -> str:
        return ELEMENT_WORDS[found[1]] + ("" if found[2] else ", ")

    def candidates(found: re.Match[str]) -> str:
        return found[1] + ", ".join(ELEMENT_WORDS.get(each, each) for each in found[2].split(", "))

    text = CANDIDATES.sub(candidates, TREATMENT.sub(treatment, answer))
    return PRESET.sub(r"the paper's hosts as far as they are known (\1)", text, count=1)
