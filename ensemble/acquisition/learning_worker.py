"""An experiment's worker: hides labels, adds them round by round in two arms, and trains on them.

Whatever is trained is on the disk as a line before the next one begins: one that was killed or
stopped goes on there, and comes to the same.
"""

import time
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemble import datasets
from ensemble.acquisition.learning_job import LearningExperiment, LearningStatus, find_learning
from ensemble.acquisition.learning_results import LearningResult, append_result, pack_right, read_results
from ensemble.analysis.acquisition.image_choice import STRATEGIES
from ensemble.analysis.acquisition.uniform_draws import shuffle_numbers
from ensemble.config import EnsembleConfig
from ensemble.datasets.dataset import Dataset
from ensemble.datasets.own.pools.pool_arms import BOTH_ARMS, CHOSEN_ARM, RANDOM_ARM
from ensemble.errors import ConfigError, RunError
from ensemble.jobs import worker
from ensemble.jobs.outcome import Outcome, StopRequest, limit_stop_checks
from ensemble.jobs.status import StatusWriter
from ensemble.jobs.worker import ReportStatus
from ensemble.machine.jax_settings import prepare_jax

_CANDIDATE_STREAM, _CHOICE_STREAM, _ARM_STREAM = 11, 12, 13  # so that no two draws are alike
_QUESTION_IMAGES = 1024  # that members are asked about at once
_MAX_STEPS_PER_CALL = 256

Numbers = NDArray[np.int64]
Probabilities = NDArray[np.float32]


class _LearningStoppedError(Exception):
    """Somebody asked the experiment to stop."""


def execute_learning(learning_id: str, report: ReportStatus = lambda status: None) -> LearningExperiment:
    """Bring a queued experiment to its end in this process; see `jobs.worker.execute_job`.

    Args:
      learning_id: an experiment in state `queued`.
      report: called with each new status.
    """
    experiment = find_learning(learning_id)
    worker.execute_job(
        experiment,
        lambda status, stop: _run_learning(experiment, status, stop, report),
        report,
        devices=experiment.config.base.devices,
    )
    return find_learning(learning_id)


def _run_learning(
    experiment: LearningExperiment, status: StatusWriter[LearningStatus], stop: StopRequest, report: ReportStatus
) -> Outcome:
    """Train whatever is not trained yet.

    Raises:
      ConfigError: the dataset has fewer training images than take part.
      NotPreparedError: it is not on this machine.
      RunError: a training diverged.
    """
    status.update(started=time.time())
    dataset = datasets.load_dataset(experiment.config.base.dataset)
    prepare_jax()
    try:
        for place in range(experiment.config.seeds):
            _SeedRunner(
                experiment=experiment, dataset=dataset, place=place, status=status, stop=stop, report=report
            ).run_rounds()
    except _LearningStoppedError:
        return Outcome("stopped", "Stopped. Resume continues from here.")
    return Outcome("finished")


class _SeedRunner:
    """One seed's two arms.

    Args:
      experiment: of which.
      dataset: whose labels are hidden.
      place: which of the seeds, from 0.
      status: told how far it is.
      stop: asked whether to stop.
      report: called with each new status.
    """

    def __init__(
        self,
        experiment: LearningExperiment,
        dataset: Dataset,
        place: int,
        status: StatusWriter[LearningStatus],
        stop: StopRequest,
        report: ReportStatus,
    ) -> None:
        self._folder, self._config = experiment.path, experiment.config
        self._dataset, self._place = dataset, place
        self._status, self._report = status, report
        self._stop = limit_stop_checks(stop)
        self._results = read_results(self._folder)
        config, images = self._config, len(dataset.train_images)
        if config.label_counts[-1] > images:
            raise ConfigError(
                f"{dataset.name} has {images:,} training images, and the rounds come to "
                f"{config.label_counts[-1]:,} labels: choose fewer rounds, or a smaller step."
            )
        self._seed = config.build_training_config(place, config.first).seed
        order = shuffle_numbers(images, _CANDIDATE_STREAM, self._seed)
        self._candidates: Numbers = order[: config.candidates]

    def run_rounds(self) -> None:
        """Both arms, round by round: what one has is as far as what the other has."""
        first = self._candidates[: self._config.first]
        arms = {CHOSEN_ARM: first, RANDOM_ARM: first}
        begin = self._find_or_train(BOTH_ARMS, 0, first, first)
        following = {CHOSEN_ARM: begin.following, RANDOM_ARM: self._draw_following(first, 0)}
        for number in range(1, self._config.rounds + 1):
            for arm in arms:
                added = np.array(following[arm], np.int64)
                arms[arm] = np.concatenate([arms[arm], added])
                result = self._find_or_train(arm, number, arms[arm], added)
                following[arm] = result.following if arm == CHOSEN_ARM else self._draw_following(arms[arm], number)

    def _draw_following(self, labelled: Numbers, number: int) -> list[int]:
        left = self._list_unlabelled(labelled)
        drawn = shuffle_numbers(len(left), _ARM_STREAM, self._seed, number)
        return [int(each) for each in left[drawn[: self._config.step]]]

    def _list_unlabelled(self, labelled: Numbers) -> Numbers:
        return self._candidates[~np.isin(self._candidates, labelled)]

    def _find_or_train(self, arm: str, number: int, labelled: Numbers, added: Numbers) -> LearningResult:
        found = self._results.get((self._place, arm, number))
        if found is None:
            self._tell(arm, number)
            found = self._train_round(arm, number, labelled, added)
            append_result(self._folder, found)
            self._results[found.key] = found
            self._tell(arm, number)
        return found

    def _tell(self, arm: str, number: int) -> None:
        if self._stop():
            raise _LearningStoppedError
        config = self._config
        said = f"Seed {self._place + 1} of {config.seeds}, {config.label_counts[number]:,} labels"
        self._status.update(state="learning", done=len(self._results), message=said)
        self._report(self._status.status)

    def _train_round(self, arm: str, number: int, labelled: Numbers, added: Numbers) -> LearningResult:
        config = self._config.build_training_config(self._place, len(labelled))
        dataset = self._dataset
        shown = replace(
            dataset,
            train_images=np.asarray(dataset.train_images)[labelled],
            train_labels=dataset.train_labels[labelled],
            train_groups=None,
            digest="",
        )
        probabilities, ask = self._train_ensemble(config, shown)
        averaged = probabilities.mean(axis=0, dtype=np.float64)
        labels = dataset.test_labels
        right = averaged.argmax(axis=1) == labels
        own = np.maximum(averaged[np.arange(len(labels)), labels], np.finfo(np.float32).tiny)
        following = list[int]()
        if arm != RANDOM_ARM and number < self._config.rounds:
            following = self._choose_following(labelled, number, ask)
        return LearningResult(
            place=self._place,
            arm=arm,
            round=number,
            labels=len(labelled),
            images=len(labels),
            accuracy=float(right.mean()),
            nll=float(-np.log(own).mean()),
            right=pack_right(right),
            added=[int(each) for each in added],
            following=following,
        )

    def _choose_following(self, labelled: Numbers, number: int, ask: Any) -> list[int]:
        left, config = self._list_unlabelled(labelled), self._config
        images = self._dataset.train_images
        told = [
            ask(np.asarray(images[left[start : start + _QUESTION_IMAGES]]))
            for start in range(0, len(left), _QUESTION_IMAGES)
        ]
        # One seed a round, which no other round or arm has.
        seed = int(np.random.PCG64([_CHOICE_STREAM, self._seed, number]).random_raw() >> 33)
        chosen = STRATEGIES[config.by].choose(np.concatenate(told, axis=1), config.step, seed)
        return [int(each) for each in left[chosen]]

    def _train_ensemble(self, config: EnsembleConfig, dataset: Dataset) -> tuple[Probabilities, Any]:
        """What the members say of the test images (M, N, C), and a function that asks them."""
        from ensemble.engine import Trainer, predict_probabilities

        trainer = Trainer(config, dataset)
        state = trainer.start()
        for epoch in range(1, config.epochs + 1):
            for start in range(0, trainer.steps_per_epoch, _MAX_STEPS_PER_CALL):
                if self._stop():
                    raise _LearningStoppedError
                count = min(_MAX_STEPS_PER_CALL, trainer.steps_per_epoch - start)
                state, _ = trainer.train(state, epoch, start, count)
        evaluation = trainer.evaluate(state, self._stop)
        if evaluation is None:
            raise _LearningStoppedError
        if not np.isfinite(evaluation.probabilities).all():
            raise RunError(
                f"A training with {len(dataset.train_labels):,} labels diverged: choose a lower "
                "--learning-rate, and begin anew."
            )
        params = trainer.get_params(state)
        return evaluation.probabilities, lambda images: predict_probabilities(trainer.network, params, images)
