"""Training labels that are changed, and found: benchmarks.verdicts.planted_training_labels.

    python -m benchmarks.verdicts.planted_training_labels --members 10 --folds 5 --draws 3

Of the training labels of Digits 0, 1, 5 and 10 % are changed, to any other class or to what the
members guess second; each time an ensemble is trained on them, whose members judge what they
left out. How many are said to be wrong, whether their true number lies in the interval, and how
many of the first 20 are wrong, and were expected; and how often folds are said to be apart, so that
nothing is said of how many. Other options are those of `train`.
"""

import argparse
import json
import os
import tempfile
import warnings
from collections.abc import Iterator

import numpy as np

import ensemble
from benchmarks.verdicts.planted_labels import FIRST, SHARES, change_labels
from ensemble import runs
from ensemble.analysis.quality.averaging import Ints
from ensemble.config import EnsembleConfig
from ensemble.datasets import load_dataset
from ensemble.views.examples.judged_labels import JudgedLabels, judge_run_labels


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--members", type=int, default=5)
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--learning-rate", type=float, default=0.05)
    parser.add_argument("--network", default="cnn")
    parser.add_argument("--draws", type=int, default=3)
    chosen = vars(parser.parse_args())
    draws = chosen.pop("draws")
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what stands out in a dataset
        os.environ |= {"ENSEMBLE_RUNS": f"{folder}/runs", "ENSEMBLE_DATA": f"{folder}/data"}
        digits = load_dataset("digits")
        config = EnsembleConfig(**chosen)
        clean = judge_changed_labels(config, digits.train_labels, "clean")
        print_row(chosen, "none", [measure_finds(clean, digits.train_labels)])
        for kind in ("any", "second guess"):
            for share in SHARES[2:]:
                rows = list(try_share(config, clean, kind, share, draws))
                print_row(chosen, kind, rows)


def try_share(
    config: EnsembleConfig, clean: JudgedLabels, kind: str, share: float, draws: int
) -> Iterator[dict[str, float]]:
    """What is found of labels that were changed, for each draw and training."""
    for draw in range(draws):
        changed = change_labels(clean.predictions, clean.labels, kind, share, np.random.default_rng(draw))
        name = f"{kind.replace(' ', '_')}_{round(100 * share)}_{draw}"
        judged = judge_changed_labels(config, changed, name)
        yield measure_finds(judged, clean.labels)


def judge_changed_labels(config: EnsembleConfig, labels: Ints, name: str) -> JudgedLabels:
    """The labels as an ensemble judges them that was trained on them."""
    digits = load_dataset("digits")
    ensemble.add_dataset(
        name,
        digits.train_images,
        labels,
        test_images=digits.test_images,
        test_labels=digits.test_labels,
        class_names=digits.class_names,
        noun="digit",
    )
    run = runs.create_run(EnsembleConfig(**{**config.as_dict(), "dataset": name}))
    judged = judge_run_labels(runs.execute_run(run.id, turn=False), "training")
    assert np.array_equal(judged.labels, labels[judged.numbers])
    return judged


def measure_finds(judged: JudgedLabels, truth: Ints) -> dict[str, float]:
    """How many labels are wrong and said to be, and how many of the first are."""
    errors, changed = judged.errors, judged.labels != truth[judged.numbers]
    share = float(changed.mean())
    assert judged.fold_shares
    return {
        "right": float((judged.averaged.argmax(axis=1) == truth[judged.numbers]).mean()),
        "changed": share,
        "said": errors.share,
        "low": errors.low,
        "high": errors.high,
        "in_interval": float(errors.low <= share <= errors.high),
        "wrong_of_first": float(changed[errors.order[:FIRST]].sum()),
        "expected_of_first": errors.expect_errors(0, FIRST),
        "folds_apart": float(judged.fold_shares.are_apart),
        "found": float(changed[errors.order[: int(changed.sum())]].mean()) if share else 0.0,
    }


def print_row(chosen: dict[str, object], kind: str, rows: list[dict[str, float]]) -> None:
    """One line of JSON: the means over the draws."""
    means = {key: round(float(np.mean([row[key] for row in rows])), 4) for key in rows[0]}
    print(json.dumps({**chosen, "changed_to": kind, "draws": len(rows)} | means), flush=True)


if __name__ == "__main__":
    main()
