"""Predictions in a notebook: their figures in numbers, in one table, in a file to keep."""

import os
import warnings
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensemble.analysis.members.gain import MeanGain, gain_over_mean_member
from ensemble.analysis.named_predictions import NamedPredictions
from ensemble.analysis.predictions import evaluate_predictions
from ensemble.analysis.quality.conformal import METHODS
from ensemble.analysis.quality.coverage import MISS_RATE
from ensemble.analysis.quality.metrics import MAIN_METRICS
from ensemble.analysis.quality.quality import EnsembleQualities, Quality, measure_qualities
from ensemble.api.notebook import Facts, render_facts_html, render_facts_markdown
from ensemble.errors import PredictionsError
from ensemble.exchange import MemberOutputs, read_prediction_files
from ensemble.exchange.array_input import convert_arrays_to_outputs
from ensemble.runs.test_groups import find_test_groups
from ensemble.storage.arrays.npz import write_arrays
from ensemble.storage.disk_errors import describe_error_with_path, describe_remedy
from ensemble.wording import formats
from ensemble.wording.verdicts import ensemble_gain as words

if TYPE_CHECKING:
    import pandas as pd


class Predictions(NamedPredictions):
    """What M members and their ensemble say of N labelled examples of C classes.

    Made by `from_arrays` or `from_files`, or given by a run. All arrays are read-only; beside what
    is documented here there are `probabilities` (M, N, C), `averaged` (N, C), `said`, `confidence`,
    `right`, `split`, `disagreement` and `epistemic` (N,), `votes` (M, N) and `tallies` (N, C).

    Two members on three examples; the mean of their probabilities is the ensemble's:

    Examples:
      >>> import ensemble
      >>> made = ensemble.Predictions.from_arrays(
      ...     [[[0.9, 0.1], [0.6, 0.4], [0.3, 0.7]],
      ...      [[0.8, 0.2], [0.2, 0.8], [0.4, 0.6]]],
      ...     labels=[0, 1, 1], class_names=["cat", "dog"])
      >>> made
      <Predictions: 2 members, 3 examples, 2 classes; accuracy 100.0 % (44 to 100 %)>
      >>> made.averaged.round(2).tolist()
      [[0.85, 0.15], [0.4, 0.6], [0.35, 0.65]]
      >>> made.accuracy, [member.accuracy for member in made.qualities.members]
      (1.0, [0.6666666666666666, 1.0])
      >>> made.gain.digits
      0.5
    """

    @classmethod
    def from_arrays(
        cls,
        probabilities: ArrayLike,
        labels: ArrayLike,
        *,
        logits: bool = False,
        class_names: Sequence[str] | None = None,
        member_names: Sequence[str] | None = None,
        noun: str = "example",
        source: str = "",
        groups: ArrayLike | None = None,
        labels_as: str = "",
        example_names: Sequence[str] | None = None,
    ) -> Self:
        """Predictions of any model from anywhere, no run needed.

        Args:
          probabilities: (M, N, C), or (N, C) of one member; each row of C sums to 1. They are
            copied, as float32.
          labels: (N,), what the examples are: class numbers in [0, C), or class names.
          logits: the numbers are logits: a softmax makes probabilities of them.
          class_names: what the classes are called; by default their numbers.
          member_names: what the members are called; by default "member 1" and so on.
          noun: what one example is called, in the singular.
          source: whose predictions these are, for the titles of figures.
          groups: (N,), which writer, patient or video each example is of: intervals and tests
            count those of one together. None where all are independent.
          labels_as: "names", "positions" or "from-1", where labels could be read several ways; ""
            for what names and predictions say.
          example_names: N of them, what the examples are called.

        What was assumed of them stands in `notes`, and is said once as a warning.

        Raises:
          PredictionsError: these are no such predictions; the message names the entry.
        """
        return cls._from_outputs(
            convert_arrays_to_outputs(
                probabilities,
                labels,
                logits=logits,
                class_names=class_names,
                member_names=member_names,
                groups=groups,
                labels_as=labels_as,
                example_names=example_names,
            ),
            noun,
            source,
        )

    @classmethod
    def from_files(
        cls,
        *files: str | os.PathLike[str],
        noun: str = "example",
        source: str = "",
        labels_as: str = "",
        decimal: str = "",
    ) -> Self:
        """Predictions in a .npz, CSV or Parquet file, or in several with a member each.

        Args:
          files: what `to_npz` and `ensemble export` write, or other tools do.
          noun: what one example is called, in the singular.
          source: whose predictions these are, for the titles of figures.
          labels_as: as of `from_arrays`; what was assumed stands in `notes` too.
          decimal: "point" or "comma", if numbers of a CSV can be read in two ways; "" to decide from its cells.

        Raises:
          DataError: numbers of a CSV can be read in two ways, and `decimal` is not given.
          PredictionsError: they cannot be taken; the message names the file and the entry.
        """
        return cls._from_outputs(
            read_prediction_files([Path(file) for file in files], labels_as=labels_as, decimal=decimal), noun, source
        )

    @classmethod
    def _from_outputs(cls, outputs: MemberOutputs, noun: str, source: str) -> Self:
        if outputs.epochs > 1:
            raise PredictionsError(
                f"`probabilities` has {outputs.epochs:,} epochs, but one is expected: give "
                "one, or make a run of all with ensemble.import_predictions."
            )
        groups = find_test_groups(None, outputs.groups, repeats=outputs.repeats).groups
        predictions = evaluate_predictions(outputs.probabilities[0], outputs.labels, groups)
        warn_of_notes(outputs.assumptions, stacklevel=4)
        named = cls.from_predictions(predictions, outputs.class_names, outputs.member_names, noun, source)
        return replace(named, notes=outputs.notes, example_names=outputs.details.names)

    @cached_property
    def qualities(self) -> EnsembleQualities:
        """The figures of the ensemble, of each member, and the mean of the members'."""
        return measure_qualities(self)

    @property
    def quality(self) -> Quality:
        """The ensemble's figures: accuracy with its interval, NLL, Brier score, ECE and more."""
        return self.qualities.ensemble

    @property
    def accuracy(self) -> float:
        """The share of the examples that the ensemble gets right, in [0, 1]."""
        return self.quality.accuracy

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's 95 % interval of the accuracy."""
        return self.quality.low, self.quality.high

    @property
    def nll(self) -> float:
        """The ensemble's mean negative log-likelihood, in nats."""
        return self.quality.nll

    @property
    def ece(self) -> float:
        """The ensemble's expected calibration error over 15 bins of equal width, in [0, 1]."""
        return self.quality.ece

    @cached_property
    def gain(self) -> MeanGain:
        """What the ensemble is better by than a member drawn at random, with 95 % intervals."""
        return gain_over_mean_member(self)

    def summary(self) -> dict[str, float]:
        """The figures in one row, as for a `pandas.DataFrame` of several runs.

        Shares are in [0, 1], NLL in nats; `gain` is in examples, with its 95 % interval;
        `disagreement` is the mean share of pairs of members that vote differently. Of one member
        there is no gain and no disagreement: NaN.
        """
        mean, gain = self.qualities.mean, self.gain
        against = {
            "gain": gain.digits,
            "gain_low": gain.digits_low,
            "gain_high": gain.digits_high,
            "nll_gain": gain.nll,
            "nll_gain_low": gain.nll_low,
            "nll_gain_high": gain.nll_high,
            "disagreement": float(np.mean(self.disagreement)),
        }
        if self.members == 1:
            against = dict.fromkeys(against, np.nan)
        low, high = self.interval
        return {
            "members": self.members,
            "n": len(self.labels),
            "accuracy": self.accuracy,
            "accuracy_low": low,
            "accuracy_high": high,
            **{metric.name: self.quality[metric.name] for metric in MAIN_METRICS},
            "mean_member_accuracy": mean.accuracy,
            "mean_member_nll": mean.nll,
            **against,
        }

    def to_frame(
        self, rate: float = MISS_RATE, method: str = METHODS[0], *, fit: "Predictions | None" = None
    ) -> "pd.DataFrame":
        """A row for each example: what is said of it, how unsure, who votes how, its set.

        Each measure has a column of its name (`EXAMPLE_MEASURES`): `entropy` is that of the
        average, in nats, and the sum of `aleatoric` (the members' own) and `epistemic` (what they
        differ in). `votes` are the members' classes in the order of `member_names`, `set` the
        conformal set, calibrated on the other half of the examples.

        Args:
          rate: the share of the sets that may miss, in (0, 1).
          method: "aps", "raps" or "lac".
          fit: the same members' predictions of other examples, to calibrate the sets on.

        Raises:
          ConfigError: the rate or the method is out of its range, or there are too few examples.
        """
        from ensemble.api.tables import tabulate_examples  # here: figures take a while to import

        return tabulate_examples(self, self._known_labels(), rate, method, fit)

    def committee_frame(self, fit: "Predictions | None" = None) -> "pd.DataFrame":
        """The committee curve as numbers: a row for each size, each metric's mean and range.

        Above 12 members committees are drawn by chance. Sizes beyond M are what is expected of
        more members; the column `what` tells them apart.

        Args:
          fit: the same members' predictions of other examples, to choose the best committees on.

        Raises:
          ConfigError: there is one member.
        """
        from ensemble.api.tables import tabulate_committees

        return tabulate_committees(self, fit)

    def _known_labels(self) -> NDArray[np.integer[Any]] | None:
        """The labels; None where nobody has said."""
        return self.labels

    def to_npz(self, path: str | os.PathLike[str]) -> Path:
        """Write probabilities, labels and names to one .npz file, which any NumPy reads.

        Returns:
          The file, its name ending in ".npz" as NumPy has it.

        Raises:
          PredictionsError: it cannot be written; what was there before stays.
        """
        target = Path(path)
        if target.suffix != ".npz":
            target = target.with_name(f"{target.name}.npz")
        labels = self._known_labels()
        arrays: dict[str, NDArray[Any]] = {
            "probabilities": self.probabilities,
            **({} if labels is None else {"labels": labels}),
            "class_names": np.array(self.class_names),
            "member_names": np.array(self.member_names),
        }
        if self.example_names:
            arrays["example_names"] = np.array(self.example_names)
        try:
            write_arrays(target, arrays)
        except OSError as error:
            raise PredictionsError(
                f"{target} could not be written ({describe_error_with_path(error)}): "
                f"{describe_remedy(error)}, or name another file."
            ) from error
        return target

    def __repr__(self) -> str:
        return f"<Predictions: {self._describe_sizes()}; accuracy {_format_accuracy_interval(self.quality)}>"

    def _describe_sizes(self) -> str:
        return ", ".join(
            (
                formats.format_count(self.members, "member"),
                formats.format_count(len(self.said), self.noun),
                f"{len(self.class_names):,} classes",
            )
        )

    def _repr_html_(self) -> str:
        return render_facts_html(self._notebook_title(), self._notebook_facts())

    def _repr_markdown_(self) -> str:
        return render_facts_markdown(self._notebook_title(), self._notebook_facts())

    def _notebook_title(self) -> str:
        return self.source or "Predictions"

    def _notebook_facts(self) -> Facts:
        ensemble_quality = self.quality
        facts = [
            (
                "accuracy",
                f"{_format_accuracy_interval(ensemble_quality)} of "
                f"{formats.format_count(ensemble_quality.n, self.noun)}",
            ),
            ("NLL", f"{formats.format_significant(ensemble_quality.nll)} nats"),
            ("ECE", formats.format_significant(ensemble_quality.ece)),
        ]
        if self.members == 1:
            return [("members", "1"), *facts]
        gained = f"{formats.format_image_difference(self.gain.digits, self.noun)} over the mean member "
        gained += words.format_gain_interval(self.gain)
        differ = formats.format_percent(float(np.mean(self.disagreement)), figures=2)
        return [
            ("members", f"{self.members:,}"),
            *facts,
            ("gain", gained),
            ("disagreement", f"{differ} of pairs of members"),
        ]


class UnlabelledPredictions(Predictions):
    """Predictions of examples that nobody has labelled; whatever takes labels says so.

    Made by `Run.predict`. There are `averaged`, `said`, `confidence`, `votes`, `epistemic` and
    the others that need no label; `to_frame` leaves out those that do.
    """

    @property  # type: ignore[override]
    def labels(self) -> NDArray[np.integer[Any]]:
        """There are none.

        Raises:
          PredictionsError: always.
        """
        raise PredictionsError(
            "These images came without labels, and this needs them: give them as run.predict(images, labels)."
        )

    @labels.setter
    def labels(self, value: object) -> None:
        """As the fields are set: these are nobody's."""

    def __repr__(self) -> str:
        return f"<Predictions: {self._describe_sizes()}; no labels>"

    def _known_labels(self) -> None:
        return None

    def _notebook_facts(self) -> Facts:
        facts = [("members", f"{self.members:,}"), (self.noun, f"{len(self.said):,}, without labels")]
        differ = formats.format_percent(float(np.mean(self.disagreement)), figures=2)
        return facts + [("disagreement", f"{differ} of pairs of members")] * (self.members > 1)


def warn_of_notes(notes: Sequence[str], stacklevel: int) -> None:
    """Say what was assumed of predictions, once; `stacklevel` as of `warnings.warn`."""
    if notes:
        warnings.warn(f"Assumed as predictions were read: {' '.join(notes)}", stacklevel=stacklevel)


def _format_accuracy_interval(quality: Quality) -> str:
    return (
        f"{formats.format_percent(quality.accuracy, quality.n)} "
        f"({formats.format_percent_range(quality.low, quality.high)})"
    )
