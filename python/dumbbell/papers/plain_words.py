"""Each finding in a few words, for somebody who does not know the paper."""

__all__ = ["PLAIN_WORDS"]

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
