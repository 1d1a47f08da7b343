"""Complete trials of drawn validation predictions: no test of their comparison needs a trained network."""

from dataclasses import replace

import numpy as np

from ensemble import runs
from ensemble.datasets.partition.split import select_validation_indices
from ensemble.jobs.status import write_status
from ensemble.runs.history import write_predictions
from ensemble.runs.test_set import load_run_dataset
from ensemble.sweeps import Trial
from tests.comparison.drawn import finished


def trial(number: int, skill: float, seed: int = 0) -> Trial:
    """A complete trial whose run says its validation images the surer, the greater the skill."""
    run = finished({"validation": 0.1, "seed": seed, "momentum": number / 50}, epochs=1)
    data = load_run_dataset(run)
    labels = data.train_labels[select_validation_indices(runs.require_training_config(run), data)]
    hard = np.random.default_rng(99).normal(size=(2, len(labels), 10))
    logits = hard + np.random.default_rng(number).normal(0, 0.3, hard.shape)
    logits[:, np.arange(len(labels)), labels] += skill
    powers = np.exp(logits)
    probabilities = (powers / powers.sum(-1, keepdims=True)).astype(np.float32)
    write_predictions(run.path, 1, probabilities, "validation")
    write_status(run.path, replace(run.status, best_epoch=1, best_on="validation"))
    mean = probabilities.astype(float).mean(axis=0)[np.arange(len(labels)), labels]
    nll = float(-np.log(mean).mean())
    return Trial(number, "complete", {"learning_rate": 0.1}, (nll,), run_id=run.id)


def repeated(number: int, *skills: float) -> Trial:
    """A complete trial that was trained with seeds in a row, as well as these say."""
    trained = [trial(len(skills) * number + seed, skill, seed) for seed, skill in enumerate(skills)]
    mean = float(np.mean([one.values[0] for one in trained]))
    rest = tuple(one.run_id for one in trained[1:])
    return replace(trained[0], number=number, values=(mean,), repeat_run_ids=rest)
