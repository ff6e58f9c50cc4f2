"""Makes the captures of lab 5: five flows, each of another algorithm, in an order of your own.

``python captures.py NUMBER``, with your student number or any other, writes a.pcapng to e.pcapng
into the directory ``captures`` next to this file. The same number makes the same files.
"""

from __future__ import annotations

import random
import struct
import sys
from pathlib import Path

import dumbbell

__all__ = ["ALGORITHMS", "LETTERS"]

ALGORITHMS = ("bbr", "copa", "cubic", "reno", "vegas")
LETTERS = "abcde"
#: The type of a block that describes a pcapng section: it names the scenario, which is the answer.
SECTION = 0x0A0D0D0A


def _drawn(number: int) -> dict[str, dumbbell.Scenario]:
    """Return what runs, by letter: the key to the captures, for the grader and the teacher."""
    draw = random.Random(number)
    order = draw.sample(ALGORITHMS, len(ALGORITHMS))
    rate, rtt = draw.choice(("14mbit", "16mbit", "18mbit")), draw.choice(("36ms", "40ms", "44ms"))
    return {
        letter: dumbbell.Scenario(
            [cc], rate=rate, rtt=rtt, buffer="2bdp", time="40s", sample="20ms"
        )
        for letter, cc in zip(LETTERS, order, strict=True)
    }


def without_comments(capture: bytes) -> bytes:
    """Return a pcapng file whose section does not say what ran."""
    kind, length, magic, version, size = struct.unpack_from("<IIIIq", capture)
    if (kind, magic) != (SECTION, 0x1A2B3C4D):
        raise ValueError("the capture does not begin with a section")
    section = struct.pack("<IIIIqI", SECTION, 28, magic, version, size, 28)
    return section + capture[length:]


def main(arguments: list[str]) -> int:
    """Write the captures."""
    if len(arguments) != 1:
        print("usage: python captures.py NUMBER", file=sys.stderr)
        return 2
    if not arguments[0].isdecimal():
        print(f"NUMBER is {arguments[0]}: use a whole number from 0 on", file=sys.stderr)
        return 2
    directory = Path(__file__).with_name("captures")
    directory.mkdir(exist_ok=True)
    for letter, scenario in _drawn(int(arguments[0])).items():
        path = directory / f"{letter}.pcapng"
        dumbbell.run(scenario, capture=dumbbell.Capture(path, points=["sender"]))
        path.write_bytes(without_comments(path.read_bytes()))
        print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
