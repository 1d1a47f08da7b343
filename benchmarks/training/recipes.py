"""How soon 99 %, and how much at best: python -m benchmarks.training.recipes

MNIST, each recipe with 3 seeds, each run a process that begins with nothing compiled: seconds from
its start to its end, and the ensemble's accuracy and NLL on the test images after its last epoch.
`fast` is four members at 99.0 % as soon as can be, `fast_two_epochs` what was so before, to compare
with on the same machine; `best` is Train's preset *Best accuracy*. All were chosen on a tenth of
the training images that was held out, not on the test images, and learn from all of them here.
"""

import argparse
import dataclasses
import json
import statistics
import time
from typing import Any

from benchmarks import common
from benchmarks.training.mnist import train
from ensemble.config import EnsembleConfig
from ensemble.ui.train import presets

SEEDS = (0, 1, 2)
FAST = EnsembleConfig(
    dataset="mnist",
    members=4,
    epochs=1,
    width=16,
    batch_size=64,
    optimizer="adamw",
    learning_rate=0.008,
    momentum=0.8,
    schedule="cosine",
    warmup_epochs=0.1,
)
RECIPES = {
    "fast": FAST,
    "fast_two_epochs": dataclasses.replace(FAST, epochs=2, batch_size=128, learning_rate=0.012),
    "best": presets.PRESETS["Best accuracy"],
}
WANTED = {"fast": 0.990, "fast_two_epochs": 0.990, "best": 0.9955}  # of the ensemble


def words_of(config: EnsembleConfig) -> list[str]:
    """The options beside `--dataset` that make `ensemble train` train by these settings."""
    words, usual = list[str](), EnsembleConfig()
    for field in dataclasses.fields(config):
        value = getattr(config, field.name)
        if field.name == "dataset" or value == getattr(usual, field.name):
            continue
        option = field.name.replace("_", "-")
        if isinstance(value, bool):
            words.append(f"--{option}" if value else f"--no-{option}")
        else:
            words += [f"--{option}", str(value)]
    return words


def run(config: EnsembleConfig) -> dict[str, Any]:
    """One run in folders of its own, so that nothing of an earlier one is there compiled."""
    common.isolated_folders()
    began = time.perf_counter()
    result, _ = train(*words_of(config))
    run_figures = {
        "seed": config.seed,
        "ensemble": result["ensemble_test_accuracy"],
        "nll": round(result["ensemble_test_nll"], 5),
        "mean_member": round(statistics.mean(result["member_test_accuracy"]), 5),
        "seconds": round(time.perf_counter() - began, 1),
        "img_member_per_s": result["img_member_per_s"],
    }
    print(json.dumps(run_figures), flush=True)
    return run_figures


def figures(name: str, seeds: list[int]) -> dict[str, Any]:
    """A recipe's runs, and what they come to."""
    results = [run(dataclasses.replace(RECIPES[name], seed=seed)) for seed in seeds]
    return {
        "options": " ".join(words_of(RECIPES[name])),
        "mean_ensemble": round(statistics.mean(result["ensemble"] for result in results), 5),
        "mean_nll": round(statistics.mean(result["nll"] for result in results), 5),
        **(
            {"wanted": wanted, "reached_by": sum(result["ensemble"] >= wanted for result in results)}
            if (wanted := WANTED.get(name))
            else {}
        ),
        "runs": results,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("recipes", nargs="*", help=f"which of {', '.join(RECIPES)}; all by default")
    parser.add_argument("--seeds", type=int, nargs="+", default=list(SEEDS))
    args = parser.parse_args()
    if unknown := set(args.recipes) - set(RECIPES):
        parser.error(f"there is no recipe {sorted(unknown)[0]}: choose of {', '.join(RECIPES)}")
    kept = common.RESULTS / "recipes.json"
    before = json.loads(kept.read_text("utf-8")) if kept.exists() else {}
    before.pop("machine", None)
    for name in args.recipes or RECIPES:
        # Kept one by one: the second takes many times as long as the first.
        before[name] = {**figures(name, args.seeds), "on": common.machine()}
        common.keep("recipes", before)


if __name__ == "__main__":
    main()
