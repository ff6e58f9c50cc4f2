"""A scenario of a space: the plain one and the elements that it has on top."""

from __future__ import annotations

import copy
from collections import Counter
from dataclasses import dataclass, replace

from dumbbell.congestion_control import CongestionControlChoice
from dumbbell.scenario import Group, Scenario
from dumbbell.scenario_space.kind import DrawnElement, Roles, Words

__all__ = ["MAX_ELEMENTS", "Candidate", "Plain", "with_drawn_phase"]

#: Most elements of a candidate: those that are not needed cost time, and are shrunk away later.
MAX_ELEMENTS = 6


@dataclass(frozen=True)
class Plain:
    """The scenario without any element.

    Attributes
    ----------
    scenario
        Its path and time; its only group is the one under test.
    tested, against
        The congestion control algorithm under test and the reference.
    flows
        Flows under test.
    has_competitor
        Whether a flow of the reference competes from the start on.
    """

    scenario: Scenario
    tested: CongestionControlChoice
    against: CongestionControlChoice
    flows: int = 1
    has_competitor: bool = False

    def words(self) -> Words:
        """Return it in the words of a file."""
        words = self.scenario.to_dict()
        words["group"][0]["flows"] = self.flows
        if self.has_competitor:
            words["group"].append({"cc": str(self.against)})
        return words

    def roles(self, *, is_reference: bool) -> Roles:
        """Return who takes part, with the reference in the place under test or without."""
        return Roles(str(self.against if is_reference else self.tested), str(self.against))


@dataclass(frozen=True, order=True)
class Candidate:
    """Elements on top of the plain scenario.

    Attributes
    ----------
    elements
        Sorted, so that equal candidates are equal.
    """

    elements: tuple[DrawnElement, ...] = ()

    @classmethod
    def of(cls, elements: list[DrawnElement]) -> Candidate:
        """Return a candidate: of elements of one kind beyond its `most`, the first ones count."""
        counts: Counter[str] = Counter()
        kept = []
        for element in elements:
            if counts[element.name] < element.kind.most and element not in kept:
                counts[element.name] += 1
                kept.append(element)
        return cls(tuple(sorted(kept[:MAX_ELEMENTS])))

    def scenario(self, plain: Plain, *, is_reference: bool, seed: int) -> Scenario:
        """Return the scenario that runs.

        Raises
        ------
        ScenarioError
            Its elements do not fit together: a buffer is smaller than a packet, for example.
        """
        words, roles = copy.deepcopy(plain.words()), plain.roles(is_reference=is_reference)
        # The path first: others are shares of it.
        order = sorted(self.elements, key=lambda each: (each.name != "rate", each))
        for element in order:
            element.kind.place(words, element.values, roles)
        words["seed"] = seed
        groups = words.pop("group")
        groups[0]["cc"] = plain.against if is_reference else plain.tested
        # Files and parameters as they were given, not by the names that kinds write.
        chosen = {roles.tested: groups[0]["cc"], roles.against: plain.against}
        for group in groups[1:]:
            group["cc"] = chosen.get(group["cc"], group["cc"])
        words = {key: value for key, value in words.items() if value != ""}
        return with_drawn_phase(Scenario([Group(**group) for group in groups], **words))


def with_drawn_phase(scenario: Scenario) -> Scenario:
    """Return it with base RTTs longer by up to a packet's time on the link, drawn from the seed.

    Which packets a full queue takes can depend on a fraction of that time (Floyd and Jacobson,
    1992). What fails in one phase only does so on some seeds, and says nothing of other paths.
    """
    packet_bytes = max(group.packet_bytes for group in scenario.groups)
    dither = f"{8 * packet_bytes * 10**9 // int(scenario.rate)}ns"
    groups = [
        group if group.rtt_dither else replace(group, rtt_dither=dither)
        for group in scenario.groups
    ]
    return scenario.replace(groups=groups)
