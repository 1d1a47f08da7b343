"""Labels that are changed, and found: python -m benchmarks.verdicts.planted_labels RUN...

Of each run's test labels 0, 0.2, 1, 5 and 10 % are changed, ten times: to any class, a third of the
classes to one other each, to the members' second guess, or to what one member answered after its
first epoch. Printed are how many are estimated to be wrong and how many at least, whether that is
a true lower bound (or the estimate right within 10 %), how many of the first 20 are wrong and how
many were expected at least; and how many of as many images as were changed have a changed label, in
the order of doubt, of the averaged probability of the label, of the lowest of any member, and of
votes.
For MNIST it also prints how many of the 15 test labels that people found to be wrong come first.
"""

import argparse
import json
from collections.abc import Iterator

import numpy as np

import ensemble
from ensemble.analysis.predictions import EnsemblePredictions, evaluate_predictions
from ensemble.analysis.quality.averaging import Ints
from ensemble.analysis.quality.label_errors import find_label_errors

SHARES, DRAWS, FIRST = (0.0, 0.002, 0.01, 0.05, 0.1), 10, 20
KINDS = ("any", "class", "second guess", "weaker model")
# Numbers of test images whose label most of five people rejected: C. G. Northcutt, A. Athalye and
# J. Mueller, "Pervasive label errors in test sets destabilize machine learning benchmarks", NeurIPS
# 2021 (labelerrors.com).
MNIST_ERRORS = (*(947, 1621, 1901, 2130, 2462, 2597, 2654, 3520), *(3558, 5937, 6651, 6783, 8527, 9679, 9729))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("runs", nargs="+", metavar="RUN")
    for name in parser.parse_args().runs:
        run = ensemble.open_run(name)
        truth = evaluate_predictions(run.predictions().probabilities, run.labels)
        if run.config.dataset == "mnist":
            order = find_label_errors(truth).order
            found = {first: int(np.isin(order[:first], MNIST_ERRORS).sum()) for first in (20, 50)}
            print(json.dumps({"run": "mnist", "confirmed_errors_in_the_first": found}), flush=True)
        weaker = run.predictions(1).probabilities[0].argmax(axis=1)
        for kind in KINDS:
            for share in SHARES:
                rows = list(try_share(truth, weaker, kind, share))
                means = {key: float(np.mean([row[key] for row in rows])) for key in rows[0]}
                print(
                    json.dumps(
                        {"run": run.config.dataset, "images": len(truth.labels)}
                        | {"accuracy": round(float(truth.right.mean()), 4), "changed_to": kind}
                        | {key: round(value, 4) for key, value in means.items()}
                    ),
                    flush=True,
                )


def try_share(truth: EnsemblePredictions, weaker: Ints, kind: str, share: float) -> Iterator[dict[str, float]]:
    """What is found of labels that were changed, for each draw."""
    for seed in range(DRAWS if share else 1):
        labels = change_labels(truth, weaker, kind, share, np.random.default_rng(seed))
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
            "estimated": errors.share,
            "at_least": errors.low,
            "right": float(int(errors.low * len(labels)) <= number or abs(errors.count - number) <= 0.1 * number),
            "wrong_of_first": float(changed[first].sum()),
            "expected_of_first": errors.expect_errors(0, FIRST),
        } | {
            f"found_by_{key}": float(changed[order[:number]].mean()) if number else 0.0 for key, order in orders.items()
        }


def change_labels(truth: EnsemblePredictions, weaker: Ints, kind: str, share: float, rng: np.random.Generator) -> Ints:
    """Change a share of the labels in one of four ways.

    Args:
      truth: the members' predictions with the true labels.
      weaker: (N,), the classes that a weaker model answers.
      kind: one of `KINDS`.
      share: of all labels.
      rng: for the draw.
    """
    labels, (n, classes) = truth.labels.astype(np.int64), truth.averaged.shape
    count = round(share * n)
    if kind == "any":
        chosen = rng.choice(n, count, replace=False)
        labels[chosen] = (labels[chosen] + rng.integers(1, classes, count)) % classes
    elif kind == "class":  # a third of the classes, each always to the same other one
        pool = np.flatnonzero(labels % 3 == 1)
        chosen = rng.choice(pool, min(count, len(pool)), replace=False)
        labels[chosen] = (labels[chosen] + 3) % classes
    elif kind == "second guess":
        other = truth.averaged.astype(np.float64)
        other[np.arange(n), labels] = 0
        weight = other.max(axis=1) + 1e-4
        chosen = rng.choice(n, count, replace=False, p=weight / weight.sum())
        labels[chosen] = other[chosen].argmax(axis=1)
    else:
        pool = np.flatnonzero(weaker != labels)
        chosen = rng.choice(pool, min(count, len(pool)), replace=False)
        labels[chosen] = weaker[chosen]
    return labels


if __name__ == "__main__":
    main()
