"""Hostile captures: `identify`, `fit` and `what-if` answer or refuse, and do so in time."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

import dumbbell
from dumbbell import Capture, DumbbellError, Group, Scenario

ROOT = Path(__file__).resolve().parents[2]
#: Small captures with defects, and what fuzzing found to be different.
CORPUS = sorted(
    path
    for place in ("fuzz/corpus/analyser", "fuzz/corpus/datagrams", "tests/data/field-reports")
    for path in (ROOT / place).iterdir()
    if path.is_file()
)
#: Mutations of each whole capture, and of each of the corpus; fits, which take a second each.
OF_WHOLE, OF_CORPUS, OF_FITS = 40, 1, 6
#: The longest answer, s of CPU time: other work makes all late. A capture of a few hundred
#: kilobytes takes a tenth of this.
MOST_S = 20.0
#: Where the first packet of our captures begins at the earliest.
HEADER_BYTES = 28


def flip(data: bytearray, chance: random.Random) -> bytearray:
    """Change single bits."""
    for _ in range(10 ** chance.randrange(4)):
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    return data


def cut(data: bytearray, chance: random.Random) -> bytearray:
    """Leave out the end."""
    return data[: chance.randrange(len(data)) + 1]


def extreme(data: bytearray, chance: random.Random) -> bytearray:
    """Set words of four bytes to the least and the greatest: times, lengths, numbers."""
    for _ in range(10 ** chance.randrange(3)):
        at = chance.randrange(HEADER_BYTES, len(data) - 4) & ~3 if len(data) > 40 else 0
        data[at : at + 4] = chance.choice((b"\0\0\0\0", b"\xff\xff\xff\xff", b"\x7f\xff\xff\xff"))
    return data


def shuffle(data: bytearray, chance: random.Random) -> bytearray:
    """Swap parts, or have one twice."""
    first, second, third = sorted(chance.randrange(len(data)) for _ in range(3))
    middle, end = data[first:second], data[second:third]
    return data[:first] + end + middle * chance.choice((1, 2)) + data[third:]


MUTATIONS: tuple[Callable[[bytearray, random.Random], bytearray], ...] = (
    flip, cut, extreme, shuffle
)  # fmt: skip


def mutated(data: bytes, seed: int) -> bytes:
    """Return a capture with one or two mutations."""
    chance = random.Random(seed)  # noqa: S311 -- a test's
    changed = bytearray(data)
    for _ in range(chance.choice((1, 1, 2))):
        changed = chance.choice(MUTATIONS)(changed, chance) or bytearray(b"\0")
    return bytes(changed)


def answer(ask: Callable[[], object]) -> str:
    """Return how something ended; any error but dumbbell's own is raised."""
    begin, refusal = time.process_time(), ""
    try:
        ask()
    except DumbbellError as error:
        refusal = str(error)
    assert "\n" not in refusal
    assert time.process_time() - begin < MOST_S
    return "refused" if refusal else "answered"


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> list[bytes]:
    """A connection of TCP long enough to be identified, one of QUIC, and many short ones."""
    place = tmp_path_factory.mktemp("whole")
    scenarios = [
        Scenario(["cubic"], rate="1mbit", rtt="30ms", buffer="1bdp", time="12s", seed=1),
        Scenario(["quic/noq:cubic"], rate="1mbit", rtt="30ms", buffer="1bdp", time="12s", seed=2),
        Scenario(
            [Group("reno", traffic="rpc")],
            rate="2mbit",
            rtt="20ms",
            buffer="1bdp",
            time="3s",
            seed=3,
        ),
    ]
    found = []
    for number, scenario in enumerate(scenarios):
        path = place / f"{number}.pcapng"
        dumbbell.run(scenario, capture=Capture(path, points=["sender"], snap="96B"))
        found.append(path.read_bytes())
    return found


def test_identify_answers_or_refuses(whole, tmp_path):
    path = tmp_path / "mutated.pcapng"
    ended = []
    for kind, data in enumerate(whole):
        for seed in range(OF_WHOLE):
            path.write_bytes(mutated(data, 1000 * kind + seed))
            ended.append(answer(lambda: dumbbell.identify(path).to_dict()))
    assert ended.count("answered") > len(ended) / 4
    assert ended.count("refused") > 0


def test_identify_answers_or_refuses_what_fuzzing_found(tmp_path):
    path = tmp_path / "mutated.pcapng"
    assert len(CORPUS) > 20
    for number, original in enumerate(CORPUS):
        answer(partial(dumbbell.identify, original))
        data = original.read_bytes()
        for seed in range(OF_CORPUS):
            path.write_bytes(mutated(data, 10_000 * number + seed))
            answer(lambda: dumbbell.identify(path).to_dict())
            answer(lambda: dumbbell.fit(path).to_dict())


def test_fit_and_what_if_answer_or_refuse(whole, tmp_path):
    path = tmp_path / "mutated.pcapng"
    ended = []
    for seed in range(OF_FITS):
        path.write_bytes(mutated(whole[0], 77 + seed))
        ended.append(answer(lambda: dumbbell.what_if(path, "reno", jobs=2)))
    assert "answered" in ended
