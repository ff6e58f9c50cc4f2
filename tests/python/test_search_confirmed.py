"""What `dumbbell search` found, on fresh seeds and on the kernel."""

from __future__ import annotations

import dataclasses
from importlib import import_module

import pytest

from dumbbell import Scenario
from dumbbell.compare.reference import ReferencePair, Side, compared
from dumbbell.compare.worst import worst_named
from dumbbell.run import engine
from dumbbell.scenario_space.candidate import Candidate
from dumbbell.scenario_space.space import space_named
from dumbbell_studies.search import confirm
from dumbbell_studies.search.search import SearchResult, bound_of
from dumbbell_studies.search.weakness import Weakness
from tests.python.searched import plain_of


@pytest.fixture
def shallow() -> Weakness:
    """Copa in a buffer of 0.1 BDP, as a search would have found it."""
    plain = plain_of(Scenario(["copa"], time="3s", sample="50ms"))
    kinds = space_named("static", plain.scenario).kinds
    candidate = Candidate.of([kinds["flows"].element((8,)), kinds["buffer"].element((10,))])
    worst = worst_named("drop_rate")
    return Weakness(plain, worst, candidate, candidate, 0.7, 0.01, (0.69,) * 20, 0.3, 1)


def test_what_does_not_hold_on_fresh_seeds_is_no_failure(shallow, cli, monkeypatch, tmp_path):
    scores = (0.69,) * 19 + (0.2,)
    found = SearchResult(dataclasses.replace(shallow, scores=scores), 0.69, 49, 100)
    monkeypatch.setattr("dumbbell_studies.cli.search.search", lambda *_, **__: found)
    outcome = cli("search", "copa", "--worst", "drop_rate", "--out", str(tmp_path / "found"))
    assert outcome.code == 0
    assert "Fails on 19 of 20 fresh seeds" in outcome.out
    assert "fresh seeds do not confirm it" in outcome.err
    assert not (tmp_path / "found").exists()


def test_a_run_fails_from_what_a_failure_is_at_least():
    gap = worst_named("gap")
    assert (bound_of(0.9, gap), bound_of(0.3, gap)) == (0.45, gap.least)


def test_seeds_that_do_not_count_refute_nothing_but_most_must_count(shallow):
    some = dataclasses.replace(shallow, scores=(0.69,) * 11 + (None,) * 9)
    assert some.holds
    assert some.proof.startswith("Fails on 11 of 11 fresh seeds; ")
    assert some.proof.endswith("; 9 more did not count.")
    assert not dataclasses.replace(shallow, scores=(0.69,) * 10 + (None,) * 10).holds


def test_what_ctrl_c_kept_was_not_checked_and_is_written(shallow, cli, monkeypatch, tmp_path):
    kept = dataclasses.replace(shallow, scores=(0.69, 0.69, 0.2), is_checked=False)
    found = SearchResult(kept, 0.69, 49, 100, is_interrupted=True)
    monkeypatch.setattr("dumbbell_studies.cli.search.search", lambda *_, **__: found)
    outcome = cli("search", "copa", "--worst", "drop_rate", "--out", str(tmp_path / "found"))
    assert "Fails on 2 of 3 seeds of the search, unchecked; " in outcome.out
    assert "do not confirm" not in outcome.err
    assert (tmp_path / "found" / "copa_drop_rate.toml").is_file()


def test_what_the_kernel_shows_too_is_confirmed(shallow, fabricated_kernel):
    """On a fabricated kernel, which does what the simulator does."""
    confirmed = confirm(shallow)
    assert confirmed.confirmation is not None
    assert (confirmed.confirmation.status, confirmed.confirmation.why) == ("confirmed", "")
    assert (
        confirmed.proof
        == "Fails on 20 of 20 fresh seeds; the values are means over all; confirmed."
    )
    assert fabricated_kernel.runs == 6
    milder = confirm(dataclasses.replace(shallow, bound=0.99)).confirmation
    assert milder is not None
    assert milder.status == "simulator only"
    assert "not above 0.99" in milder.why


def test_an_invalid_run_on_the_kernel_is_replaced(shallow, fabricated_kernel, monkeypatch):
    seeds: list[list[int]] = []

    def spoiled(pairs, *words, **named):
        seeds.append([pair[0].seed for pair in pairs])
        outcomes = compared(pairs, *words, **named)
        if len(seeds) == 1:
            outcomes[0] = ReferencePair(
                Side(None, 0.0, "an impossible window"), outcomes[0].reference
            )
        return outcomes

    monkeypatch.setattr(import_module("dumbbell_studies.search.search"), "compared", spoiled)
    found = confirm(shallow).confirmation
    assert found is not None
    assert (found.status, len(found.scores)) == ("confirmed", 3)
    assert seeds == [[1, 2, 3], [4]]
    assert fabricated_kernel.runs == 8


def test_what_the_kernel_cannot_run_is_of_the_simulator_only(shallow, monkeypatch):
    monkeypatch.setattr(engine, "may_make_namespaces", lambda: False)
    found = confirm(shallow).confirmation
    assert found is not None
    assert found.status == "simulator only"
    assert "needs root's privileges" in found.why
