"""Labels that are changed, and found: python -m benchmarks.verdicts.planted_labels RUN...

Of each run's test labels 0, 2, 5 and 10 % are changed, to any other class or to what the members
take the class for, ten times; how many are said to be wrong, whether their true number lies in the
interval, how many of the first 20 are wrong and how many were expected; and, of as many images as
were changed, how many were, in the order of doubt, of the averaged probability of the label, of the
lowest of any member, and of votes.
"""

import argparse
import json
from collections.abc import Iterator

import numpy as np

import ensemble
from ensemble.analysis.predictions import EnsemblePredictions, evaluate_predictions
from ensemble.analysis.quality.averaging import Ints
from ensemble.analysis.quality.label_errors import find_label_errors

SHARES, DRAWS, FIRST = (0.0, 0.02, 0.05, 0.1), 10, 20


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("runs", nargs="+", metavar="RUN")
    for name in parser.parse_args().runs:
        run = ensemble.open_run(name)
        truth = evaluate_predictions(run.predictions().probabilities, run.labels)
        for kind in ("any", "confused"):
            for share in SHARES:
                rows = list(try_share(truth, kind, share))
                means = {key: float(np.mean([row[key] for row in rows])) for key in rows[0]}
                print(
                    json.dumps(
                        {"run": run.config.dataset, "images": len(truth.labels)}
                        | {"accuracy": round(float(truth.right.mean()), 4), "changed_to": kind}
                        | {key: round(value, 4) for key, value in means.items()}
                    ),
                    flush=True,
                )


def try_share(truth: EnsemblePredictions, kind: str, share: float) -> Iterator[dict[str, float]]:
    """What is found of labels that were changed, for each draw."""
    for seed in range(DRAWS if share else 1):
        labels = change_labels(truth, kind, share, np.random.default_rng(seed))
        changed = labels != truth.labels
        errors = find_label_errors(evaluate_predictions(truth.probabilities, labels))
        number, rows = int(changed.sum()), np.arange(len(labels))
        first = errors.order[:FIRST]
        own = truth.averaged[rows, labels]
        orders = {
            "doubt": errors.order,
            "averaged": np.argsort(own, kind="stable"),
            "lowest": np.argsort(errors.lowest, kind="stable"),
            "votes": np.lexsort((own, errors.agreeing)),
        }
        yield {
            "changed": number / len(labels),
            "said": errors.share,
            "in_interval": float(errors.low <= number / len(labels) <= errors.high),
            "wrong_of_first": float(changed[first].sum()),
            "expected_of_first": errors.expect_errors(0, FIRST),
        } | {
            f"found_by_{key}": float(changed[order[:number]].mean()) if number else 0.0
            for key, order in orders.items()
        }


def change_labels(
    truth: EnsemblePredictions, kind: str, share: float, rng: np.random.Generator
) -> Ints:
    """The labels, a share of them changed: to any other class, or as the members confuse them."""
    number, classes = truth.averaged.shape
    changed, labels = np.asarray(rng.random(number) < share), truth.labels.copy()
    if kind == "any":
        labels[changed] += rng.integers(1, classes, int(changed.sum()))
        return labels % classes
    confusion = np.zeros((classes, classes))
    np.add.at(confusion, truth.labels, truth.averaged)
    np.fill_diagonal(confusion, 0)
    confusion /= confusion.sum(axis=1, keepdims=True)
    for place in np.flatnonzero(changed):
        labels[place] = rng.choice(classes, p=confusion[truth.labels[place]])
    return labels


if __name__ == "__main__":
    main()
