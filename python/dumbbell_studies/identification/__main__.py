"""`python -m dumbbell_studies.identification`: makes the model that `dumbbell identify` ships."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from dataclasses import replace
from itertools import islice
from pathlib import Path

import numpy as np

import dumbbell
from dumbbell import LinuxTree
from dumbbell.base.writing import write_file
from dumbbell.identify import FEATURES, Floats, Model, Opinion
from dumbbell_studies.identification.algorithms import (
    OTHER,
    SAME_AS_ANOTHER,
    copied,
    sources_of,
)
from dumbbell_studies.identification.boosting import Boosting
from dumbbell_studies.identification.calibration import (
    LabelledFeatures,
    Trained,
    train,
)
from dumbbell_studies.identification.collect import Collected, collect, of_quic, of_tcp
from dumbbell_studies.identification.novelty import with_novelty
from dumbbell_studies.identification.outcome import Outcome, outcome_of
from dumbbell_studies.identification.plan import PlannedRun, quic_plan, tcp_plan

#: What both models are grown with, and what the trees for novelty are.
HOW = Boosting()
OF_NOVELTY = Boosting(rounds=200, depth=4, rate=0.1, feature_share=0.1)
#: Runs between two lines of progress.
SAID_EVERY = 100


def main() -> int:
    """Simulate, learn, and write models and what they would have said of unseen runs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--linux-tree", type=Path, required=True,
                        help="a Linux source tree, for its algorithms")  # fmt: skip
    parser.add_argument("--features", type=Path, default=Path("results/identification"),
                        help="directory of what was simulated; what is there is read")  # fmt: skip
    parser.add_argument("--out", type=Path, default=Path(dumbbell.__file__).parent / "identify",
                        help="directory of the models")  # fmt: skip
    parser.add_argument("--report", type=Path, default=Path("docs/notes/data/identify.json"),
                        help="file of counts for the notes")  # fmt: skip
    parser.add_argument("--every", type=int, default=1, metavar="N",
                        help="simulate one run in N of the plan: to try it")  # fmt: skip
    parser.add_argument("--kept", action="store_true",
                        help="learn from what was simulated, and simulate no more")  # fmt: skip
    asked = parser.parse_args()
    sources = sources_of(LinuxTree(asked.linux_tree))
    report = {}
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        plans = {
            "tcp": (tcp_plan(sources, copied("drawn", scratch)), of_tcp),
            "quic": (quic_plan(), of_quic),
        }
        for protocol, (plan, reader) in plans.items():
            kept = asked.features / protocol
            runs = (
                run
                for run in islice(plan, 0, None, asked.every)
                if not asked.kept or (kept / f"{run.number}.npz").is_file()
            )
            collected = collect(runs, reader, kept, scratch / "capture.pcapng", say)
            trained = learn(collected)
            trained.model.save(asked.out / f"model-{protocol}.npz")
            report[protocol] = described(protocol, collected, trained)
    write_file(asked.report, json.dumps(report, indent=1) + "\n")
    return 0


def say(run: PlannedRun) -> None:
    """Say how far it is."""
    if run.number % SAID_EVERY == 0:
        sys.stderr.write(f"run {run.number}: {run.label}\n")


def learn(collected: Collected) -> Trained:
    """Train a model of all flows whose algorithm has a name of its own."""
    known, others = labelled(collected), labelled(collected, of_others=True)
    trained = train(known, HOW)
    if not others.labels:
        return trained
    model, novelty = with_novelty(trained, known, others, OF_NOVELTY)
    return replace(trained, model=model, novelty=novelty)


def labelled(collected: Collected, *, of_others: bool = False) -> LabelledFeatures:
    """Return flows to learn from: of known algorithms, or of those that stand for others."""
    kept = [
        at
        for at, label in enumerate(collected.labels)
        if label not in SAME_AS_ANOTHER and (label == OTHER) == of_others
    ]
    return LabelledFeatures(
        collected.features[kept],
        [collected.labels[at] for at in kept],
        [collected.numbers[at] for at in kept],
        [collected.is_quiet[at] for at in kept],
    )


def described(name: str, collected: Collected, trained: Trained) -> dict[str, object]:
    """Count what the model says of flows whose runs its trees had not seen, and of others."""
    kept = labelled(collected)
    model, places = trained.model, trained.places
    count = len(kept.labels)
    novelty = trained.novelty if len(trained.novelty) else np.full(count, -np.inf)
    opinions = [
        model.opinion(scores, model.chances_of(scores, int(place)), int(place), float(novel))
        for scores, place, novel in zip(trained.scores, places, novelty[:count], strict=True)
    ]
    found: dict[str, object] = {"classes": list(model.classes)}
    for place, called in enumerate(("at the sender", "elsewhere")):
        chosen = [at for at in range(len(opinions)) if places[at] == place]
        if not chosen:
            continue
        outcome = outcome_of([kept.labels[at] for at in chosen], [opinions[at] for at in chosen])
        tell(f"{name}, {called}", outcome)
        found[called] = outcome.to_dict()
    others = labelled(collected, of_others=True)
    if others.labels:
        outcome = outcome_of(others.labels, of_others(model, others, novelty[count:]))
        tell(f"{name}, algorithms with other parameters", outcome)
        found["others"] = outcome.to_dict()
    return found


def of_others(model: Model, others: LabelledFeatures, novelty: Floats) -> list[Opinion]:
    """Return what the model says of others' flows, with novelty by trees that had not seen them."""
    scores = model.forest.scores(others.features)
    places = (others.features[:, FEATURES.index("vantage")] > 0).astype(np.int64).tolist()
    return [
        model.opinion(each, model.chances_of(each, place), place, novel)
        for each, place, novel in zip(scores, places, novelty.tolist(), strict=True)
    ]


def tell(what: str, outcome: Outcome) -> None:
    """Print an outcome."""
    sys.stdout.write(f"{what}: {outcome}\n")


if __name__ == "__main__":
    sys.exit(main())
