"""Two-level fractional factorial designs of resolution IV or better."""

from __future__ import annotations

from itertools import product
from math import prod

__all__ = ["MOST_FACTORS", "design"]

#: Generators of what follows the basic factors: of each further factor the basic factors, by their
#: index, whose product its column is. Each word of a defining relation then has four letters or
#: more (resolution IV), so no main effect is mixed up with another or with an interaction of two.
#: Box, Hunter, Hunter: "Statistics for experimenters", 2nd ed. 2005, table 6.22.
GENERATORS: dict[int, tuple[tuple[int, ...], ...]] = {
    1: (),
    2: (),
    3: (),
    4: ((0, 1, 2),),
    5: ((0, 1, 2, 3),),
    6: ((0, 1, 2), (1, 2, 3)),
    7: ((0, 1, 2), (1, 2, 3), (0, 2, 3)),
    8: ((1, 2, 3), (0, 2, 3), (0, 1, 2), (0, 1, 3)),
}
MOST_FACTORS = max(GENERATORS)


def design(factors: int) -> list[tuple[bool, ...]]:
    """Return the runs of a design: for each run whether each factor is at its high level.

    Up to three factors all combinations; four in 8 runs, five to eight in 16.

    Parameters
    ----------
    factors
        1 to `MOST_FACTORS`.
    """
    generators = GENERATORS[factors]
    basic = factors - len(generators)
    runs = []
    for signs in product((-1, 1), repeat=basic):
        columns = (*signs, *(prod(signs[i] for i in word) for word in generators))
        runs.append(tuple(sign > 0 for sign in columns))
    return runs
