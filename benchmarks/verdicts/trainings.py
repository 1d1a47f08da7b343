"""Claims about settings, tried on real trainings: an MLP on MNIST and on Digits, many seeds each.

Runs of one and the same setting differ in the seed alone, so that whatever is said of their
settings is wrong; of two settings of which one is better by far, it is told how often that is said.
"""

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemble import datasets
from ensemble.analysis.best_value import estimate_best_value
from ensemble.analysis.inference.unseen_mistakes import estimate_mistake_nll
from ensemble.analysis.members.member_variance import estimate_member_variances
from ensemble.analysis.quality.averaging import average_probabilities, most_likely_classes
from ensemble.analysis.quality.proper_scores import log_loss
from ensemble.comparison.differences import adjust_differences, compute_group_difference
from ensemble.comparison.run_measures import RunMeasures
from ensemble.config import EnsembleConfig

MEMBERS, SEEDS, QUICK_SEEDS = 4, 15, 5
EPOCHS = {"mnist": 3, "digits": 10}
SIZES = {"mnist": (500, 2_000, 10_000), "digits": (250, 500)}  # drawn from the test images
BLOCKS = 4  # of the test digits in file order, about one for each person who wrote them
DRAWS = 200
SEED_COUNTS = (2, 3, 5)
SEED = 20_261_125
# By name: what differs from the usual settings. "slower" is the one that is truly worse.
SETTINGS: dict[str, dict[str, Any]] = {
    "one order": {},
    "own order": {"shuffle_per_member": True},
    "slower": {"shuffle_per_member": True, "learning_rate": 0.02},
}

Claim = Callable[[np.random.Generator, int], int]


@dataclass(frozen=True, eq=False)
class SeedRuns:
    """Runs of one setting.

    Attributes:
      probabilities: (S, M, N, C), of every seed on the test images.
      labels: (N,).
      sizes: how many images are drawn from the N.
    """

    probabilities: NDArray[np.float32]
    labels: NDArray[np.int64]
    sizes: tuple[int, ...]


def train_seeds(dataset: str, name: str, seeds: int) -> SeedRuns:
    """So many runs of a setting, trained here."""
    from ensemble.engine import Trainer

    data = datasets.load_dataset(dataset)
    runs = []
    for seed in range(seeds):
        config = EnsembleConfig(
            dataset=dataset, network="mlp", members=MEMBERS, epochs=EPOCHS[dataset], seed=seed, **SETTINGS[name]
        )
        trainer = Trainer(config, data)
        state = trainer.start()
        for epoch in range(1, EPOCHS[dataset] + 1):
            state, _ = trainer.train(state, epoch, 0, trainer.steps_per_epoch)
        runs.append(np.asarray(trainer.evaluate(state).probabilities, np.float32))
        print(f"trained {dataset}, {name}, seed {seed}", flush=True)
    return SeedRuns(np.array(runs), np.asarray(data.test_labels, np.int64), SIZES[dataset])


def simulate_trainings(quick: bool) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Every case, each printed when it is done; and what is measured of the trainings themselves.

    These are `seeds_beside_jackknife`, what seeds differ by in units of the jackknife over members,
    and `digit_blocks`, what `compare_digit_blocks` gives.
    """
    seeds = QUICK_SEEDS if quick else SEEDS
    trained = {dataset: {name: train_seeds(dataset, name, seeds) for name in SETTINGS} for dataset in SIZES}
    ratios = {name: compare_with_jackknife(runs) for name, runs in trained["mnist"].items() if name != "slower"}
    for name, ratio in ratios.items():
        print(f"members with {name}: seeds differ {ratio:.2f} times as much as the jackknife says")
    blocks = compare_digit_blocks(list(trained["digits"].values()))
    for name, ratio in blocks.items():
        print(f"{name} over quarters of the digits varies {ratio:.2f} times as much as independent")
    rows = []
    every = (
        (verdict, case if dataset == "mnist" else f"{dataset}: {case}", *rest)
        for dataset, runs_by_setting in trained.items()
        for verdict, case, *rest in list_cases(runs_by_setting)
    )
    for verdict, case, n, counts, claim in every:
        rng = np.random.default_rng([SEED, n, *map(ord, verdict + case)])
        draws = DRAWS // 10 if quick else DRAWS
        rows.append(summarize_claims(verdict, case, n, counts, [claim(rng, n) for _ in range(draws)]))
    return rows, {"seeds_beside_jackknife": ratios, "digit_blocks": blocks}


def list_cases(trained: dict[str, SeedRuns]) -> Iterator[tuple[str, str, int, bool, Claim]]:
    """Verdict, case, images, whether it is promised to be wrong in 5 % at most, and one draw of it.

    A draw is 1 where the first is said to be better, -1 where the second is, else 0.
    """
    one, own, slower = trained["one order"], trained["own order"], trained["slower"]
    most = len(one.probabilities) // 2
    for n in one.sizes:
        for name, runs in (("one order", one), ("own order", own)):
            yield ("these two runs", f"{name}, seeds alone differ", n, False, draw_pair(runs, runs, 1))
        for name, runs, counts in (("one order", one, False), ("own order", own, True)):
            case = f"{name}, seeds alone differ"
            yield "settings, by members", case, n, counts, draw_pair(runs, runs, 1, True)
        yield "settings, by members", "better by far", n, True, draw_pair(own, slower, 1, True)
        for count in SEED_COUNTS:
            if count > most:
                continue
            case = f"{count} seeds a side, seeds alone differ"
            yield "settings, by seeds", case, n, True, draw_pair(one, one, count)
            case = f"{count} seeds a side, better by far"
            yield "settings, by seeds", case, n, True, draw_pair(own, slower, count)
        for name, runs in (("one order", one), ("own order", own)):
            case = f"{name}, one member a value, all equal"
            yield "best value", case, n, False, draw_best_value(runs, runs, 1)
            case = f"{name}, two members a value, all equal"
            yield "best value", case, n, True, draw_best_value(runs, runs, 2)
        case = "two members a value, better by far"
        yield "best value", case, n, True, draw_best_value(own, slower, 2)


def draw_pair(runs: SeedRuns, other_runs: SeedRuns, count: int, by_members: bool = False) -> Claim:
    """One comparison of so many seeds on each side, as Compare makes it."""

    def claim(rng: np.random.Generator, n: int) -> int:
        rows = rng.choice(len(runs.labels), n, replace=False)
        seeds = rng.choice(len(runs.probabilities), 2 * count, replace=False)
        first = tuple(measure(runs, seed, rows, by_members) for seed in seeds[:count])
        # Other settings may have the same seeds: their runs are others all the same.
        second = tuple(measure(other_runs, seed, rows, by_members) for seed in seeds[count:])
        (difference,) = adjust_differences([compute_group_difference.__wrapped__(first, second)])
        if by_members or count > 1:
            signs = difference.settings_accuracy_sign, difference.settings_nll_sign
        else:
            signs = difference.accuracy_sign, difference.nll_sign
        return next((sign for sign in signs if sign), 0)

    return claim


def draw_best_value(runs: SeedRuns, other_runs: SeedRuns, members: int) -> Claim:
    """Members of one run taken for values of a setting; of two runs where these differ."""

    def claim(rng: np.random.Generator, n: int) -> int:
        rows = rng.choice(len(runs.labels), n, replace=False)
        seed = int(rng.integers(len(runs.probabilities)))
        losses = [log_loss(member[rows], runs.labels[rows]) for member in runs.probabilities[seed]]
        if other_runs is not runs:
            others = other_runs.probabilities[seed][:members]
            losses = losses[:members] + [log_loss(m[rows], runs.labels[rows]) for m in others]
        order = rng.permutation(len(losses)) if other_runs is runs else np.arange(len(losses))
        values = np.arange(len(losses)) // members
        found = estimate_best_value(values, np.array(losses)[order])
        if not (found.p < 0.05).any():
            return 0
        return 1 if found.best == 0 else -1

    return claim


def measure(runs: SeedRuns, seed: int, rows: NDArray[np.int64], independent: bool) -> RunMeasures:
    """A run on some of the images, as Compare reads it."""
    probabilities, labels = runs.probabilities[seed][:, rows], runs.labels[rows]
    averaged = average_probabilities(probabilities)
    right = most_likely_classes(averaged) == labels
    each = {"accuracy": right, "nll": log_loss(averaged, labels)}
    variances = estimate_member_variances(probabilities, labels)
    return RunMeasures(
        f"{seed}",
        1,
        "last",
        "",
        right.astype(float),
        each,
        {},
        None,
        variances,
        independent,
        mistake_nll=estimate_mistake_nll(averaged),
    )


def compare_with_jackknife(runs: SeedRuns) -> float:
    """The standard deviation of the NLL over seeds, in units of the jackknife over members."""
    every = np.arange(len(runs.labels))
    measured = [measure(runs, seed, every, True) for seed in range(len(runs.probabilities))]
    told = np.mean([one.member_variances["nll"].variance for one in measured])
    return float(np.std([one.nll.mean() for one in measured], ddof=1) / math.sqrt(told))


def compare_digit_blocks(settings: Sequence[SeedRuns]) -> dict[str, float]:
    """How much quarters of the test digits vary, in units of what independent digits would.

    The variance over the quarters' means by the one that the digits within them give, averaged
    over runs or over pairs of runs: of a run's accuracy, of the difference of two runs' accuracies
    and of the difference of their NLLs. Independent digits would give 1.
    """
    ratios: dict[str, list[float]] = {"accuracy": [], "accuracy gap": [], "NLL gap": []}
    measured = []
    for runs in settings:
        every = np.arange(len(runs.labels))
        for seed in range(len(runs.probabilities)):
            measured.append(measure(runs, seed, every, True))
            ratios["accuracy"].append(compute_block_ratio(measured[-1].per_image["accuracy"]))
    for first, second in itertools.combinations(measured, 2):
        for name, metric in (("accuracy gap", "accuracy"), ("NLL gap", "nll")):
            gaps = first.per_image[metric].astype(float) - second.per_image[metric].astype(float)
            if gaps.any():
                ratios[name].append(compute_block_ratio(gaps))
    return {name: float(np.mean(values)) for name, values in ratios.items()}


def compute_block_ratio(values: NDArray[np.floating]) -> float:
    """The variance between blocks' means (N,) over what independent values would give."""
    blocks = np.array_split(np.asarray(values, float), BLOCKS)
    within = np.var(np.asarray(values, float), ddof=1) / (len(values) / BLOCKS)
    return float(np.var([block.mean() for block in blocks], ddof=1) / within)


def summarize_claims(verdict: str, case: str, n: int, counts: bool, claims: Sequence[int]) -> dict[str, Any]:
    """How often something was said, how often wrongly, and how often a true difference was."""
    truth = "better" in case
    wrong = sum(claim < 0 if truth else claim != 0 for claim in claims) / len(claims)
    error = math.sqrt(max(wrong * (1 - wrong), 1 / len(claims) ** 2) / len(claims))
    row = {
        "verdict": verdict,
        "case": case,
        "n": n,
        "draws": len(claims),
        "counts": counts,
        "wrong": wrong,
        "standard_error": error,
        "power": sum(claim > 0 for claim in claims) / len(claims) if truth else None,
    }
    power = "" if row["power"] is None else f"  said where true {row['power']:6.1%}"
    print(f"{verdict:22} {case:44} N {n:6,}  wrong {wrong:6.2%} ± {error:.2%}{power}", flush=True)
    return row
