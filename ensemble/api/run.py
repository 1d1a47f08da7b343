"""A run in a notebook: its settings, its history, its predictions after any epoch."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensemble import runs
from ensemble.analysis.best_value import BestValue
from ensemble.analysis.inference.image_groups import select_groups
from ensemble.analysis.predictions import evaluate_predictions
from ensemble.api.members import find_best_setting_value
from ensemble.api.predictions import Predictions
from ensemble.api.stored_run import StoredRun
from ensemble.config import AnyConfig
from ensemble.datasets.partition.split import select_validation_indices
from ensemble.errors import ConfigError, RunError
from ensemble.recognition.member_process import DEFAULT_BATCH_SIZE
from ensemble.runs.test_set import load_run_dataset
from ensemble.wording.run_names import format_run_name
from ensemble.wording.runs.member_settings import list_run_member_names

if TYPE_CHECKING:
    import pandas as pd

    from ensemble.api.label_choice import LabelChoice
    from ensemble.api.member_questions import OpenedMembers
    from ensemble.api.view import EvaluatedView
    from ensemble.export import ExportedFile
    from ensemble.wording.accuracy_estimates import AccuracyStatement


class Run(StoredRun):
    """One run. Whatever is asked of it is read again: of one that trains it is how it stands now.

    Examples:
      >>> import ensemble
      >>> run = ensemble.open_run("three of them")
      >>> run
      <Run digits-...: finished, three of them, epoch 2 of 2>
      >>> run.state, run.epochs, run.config.members
      ('finished', [1, 2], 3)
      >>> made = run.predictions()
      >>> made.probabilities.shape, made.class_names[7], made.noun
      ((3, 500, 10), '7', 'digit')
    """

    @property
    def config(self) -> AnyConfig:
        """Its settings; of one that was imported no more than its predictions say."""
        return self.stored.config

    @property
    def class_names(self) -> tuple[str, ...]:
        """What the C classes are called."""
        return self.stored.data.class_names

    @property
    def labels(self) -> NDArray[np.int32]:
        """(N,), what the test images are."""
        return runs.load_test_set(self.stored).labels

    @property
    def images(self) -> NDArray[np.uint8] | None:
        """(N, H, W, channels), the test images; None if it was imported without any."""
        return runs.load_test_set(self.stored).images

    def predictions(
        self, epoch: int | Literal["best"] | None = None, *, split: Literal["test", "validation"] = "test"
    ) -> Predictions:
        """What its members say of the test images.

        Args:
          epoch: after which epoch; None is the one chosen on validation
            images, else the last; "best" the run's best.
          split: "validation" for the training images that it held out, where it did.

        Raises:
          NotPreparedError: the run's dataset is not on this machine any more.
          RunError: there are none, or none after that epoch, or they cannot be read.
        """
        run, at = self.stored, self._resolve_epoch(epoch)
        groups, example_names = None, tuple[str, ...]()
        if split == "validation":
            probabilities = runs.read_validation_predictions(run.id, at)
            dataset = load_run_dataset(run)
            held = select_validation_indices(runs.require_training_config(run), dataset)
            labels = dataset.train_labels[held]
            groups = select_groups(dataset.train_groups, held)
        else:
            test = runs.load_test_set(run)
            probabilities = runs.read_run_predictions(run.id, at)
            labels, groups, example_names = test.labels, test.groups, test.details.names
        try:
            run_predictions = evaluate_predictions(probabilities, labels, groups)
        except ValueError as error:
            raise RunError(
                f"The predictions of epoch {at} of “{run.id}” cannot be read: the file is "
                "damaged, or belongs to other images. Choose another epoch."
            ) from error
        predictions = Predictions.from_predictions(
            run_predictions,
            run.data.class_names,
            list_run_member_names(run, at),
            run.data.noun,
            f"{format_run_name(run)} · epoch {at}",
        )
        return replace(predictions, example_names=example_names)

    def predict(
        self,
        images: ArrayLike,
        labels: ArrayLike | None = None,
        *,
        members: Sequence[int | str] | None = None,
        epoch: int | Literal["best"] | None = None,
        batch_size: int = DEFAULT_BATCH_SIZE,
    ) -> Predictions:
        """What its members say of images that they have not seen.

        They are asked on the CPU in a process of its own, which takes a few seconds to start: JAX
        here, started or not, on whatever platform, stays as it is. Give all images at once, or
        keep the members open with `open_members`.

        Args:
          images: uint8 (N, H, W) or (N, H, W, channels), as the run's own `images` are; they are
            prepared as in training. Other numbers from 0 to 255, and floats from 0 to 1, are taken
            too, and a warning says as what.
          labels: (N,), what they are, where that is known: class numbers or names. Without them
            there is no accuracy, and all else.
          members: which, by number from 0 or by name; None is all.
          epoch: after which epoch; None is the one chosen on validation
            images, else the last; "best" the run's best.
          batch_size: images at a time: fewer take less memory.

        Raises:
          PredictionsError: the images are of another size, or are no images, or the labels no
            labels of theirs.
          ConfigError: there is no such member, or the batch size is out of its range.
          RunError: it was trained elsewhere, or keeps no members of that epoch.
        """
        with self.open_members(members, epoch) as opened:
            return opened.predict(images, labels, batch_size=batch_size)

    def estimate_accuracy(
        self,
        images: ArrayLike | None = None,
        *,
        probabilities: ArrayLike | None = None,
        epoch: int | Literal["best"] | None = None,
    ) -> "AccuracyStatement":
        """Estimate its accuracy on images without labels, as a range of lower trust if in doubt.

        Fitted on its validation images if it holds some out, else on its test images. If confidence
        is not calibrated on these, or the members' outputs on the images differ from those on
        these, there is only a range of lower trust with the reason: see docs/numbers.md. The result
        has `told`, `trust`, `range`, `sentence`, `accuracy`, `table`, `notes` and `to_dict()`.

        Args:
          images: (N, H, W) or (N, H, W, channels), as of `predict`.
          probabilities: (M, N, C), in place of images, what the same members say of them: of a run
            that was trained elsewhere, or where they were asked already.
          epoch: after which epoch; None is the one chosen on validation
            images, else the last; "best" the run's best.

        Raises:
          ConfigError: neither or both of images and probabilities are given.
          PredictionsError: the images are of another size, or the probabilities of other members.
          NotPreparedError: the run's dataset is not on this machine any more.
          RunError: it keeps no predictions, or members, of that epoch.
        """
        from ensemble.api.accuracy_estimate import state_accuracy  # here: for its tables

        if (images is None) == (probabilities is None):
            raise ConfigError("Give `images` or `probabilities`, one of the two.")
        at = self._resolve_epoch(epoch)
        if images is not None:
            probabilities = self.predict(images, epoch=at).probabilities
        return state_accuracy(self.stored, at, np.asarray(probabilities))

    def choose_labels(
        self,
        images: ArrayLike | None = None,
        *,
        probabilities: ArrayLike | None = None,
        by: str = "diversity",
        count: int = 20,
        seed: int = 0,
        epoch: int | Literal["best"] | None = None,
    ) -> "LabelChoice":
        """Which images without labels to label next, and as many drawn at random beside them.

        The random ones are what tells afterwards whether choosing has paid: docs/labelling.md.

        Args:
          images: (N, H, W) or (N, H, W, channels), as of `predict`.
          probabilities: (M, N, C), in place of images, what the members say of them.
          by: "diversity", "power", "random" or the name of a measure, as "epistemic".
          count: how many are chosen, and drawn at random.
          seed: of what is drawn.
          epoch: after which epoch, as of `predict`.

        Raises:
          ConfigError: neither or both of images and probabilities are given, or there is no such
            way to choose.
          PredictionsError: the images are of another size, or these are no probabilities.
          RunError: it was trained elsewhere, or keeps no members of that epoch.
        """
        from ensemble.api.label_choice import choose_labels

        if (images is None) == (probabilities is None):
            raise ConfigError("Give `images` or `probabilities`, one of the two.")
        if images is not None:
            probabilities = self.predict(images, epoch=epoch).probabilities
        return choose_labels(np.asarray(probabilities), by=by, count=count, seed=seed, noun=self.stored.data.noun)

    def open_members(
        self, members: Sequence[int | str] | None = None, epoch: int | Literal["best"] | None = None
    ) -> "OpenedMembers":
        """Its members, to be asked again and again: `with run.open_members() as members: …`.

        `members.predict(images)` is as `predict`, and answers at once after the first call.

        Raises:
          ConfigError: there is no such member.
          RunError: it was trained elsewhere, or keeps no members of that epoch.
        """
        from ensemble.api.member_questions import OpenedMembers

        at = self.status.best_epoch if epoch == "best" else epoch
        return OpenedMembers(self.stored, None if at is None else int(at), members)

    def parameters(self, member: int | str | None = None, epoch: int | Literal["best"] | None = None) -> dict[str, Any]:
        """Parameters as Flax has them: `module.apply(run.parameters(0), images)`.

        JAX is not started for it: the leaves are NumPy's.

        Args:
          member: which, by number from 0 or by name; None is all, leaves (M, …).
          epoch: after which epoch, as of `predictions`.

        Returns:
          The collections by name: "params", and "batch_stats" where the network has such.

        Raises:
          ConfigError: there is no such member.
          RunError: it was trained elsewhere, or keeps no parameters of that epoch.
        """
        from ensemble.api.member_questions import read_member_parameters

        run = self.stored
        runs.require_training_config(run)
        return read_member_parameters(run, self._resolve_epoch(epoch), member)

    def to_frame(
        self, epoch: int | Literal["best"] | None = None, *, split: Literal["test", "validation"] = "test"
    ) -> "pd.DataFrame":
        """Every metric of every member, a row a member; the ensemble's are `predictions().summary`.

        Args:
          epoch: after which epoch, as of `predictions`.
          split: as of `predictions`.

        Raises:
          NotPreparedError: the run's dataset is not on this machine any more.
          RunError: there are none, or none after that epoch, or they cannot be read.
        """
        from ensemble.api.tables import tabulate_member_metrics

        made = self.predictions(epoch, split=split)
        return tabulate_member_metrics(made.qualities, made.member_names)

    def view(self, name: str, epoch: int | Literal["best"] | None = None, **choices: object) -> "EvaluatedView":
        """What one of Inspect's views says of it; the last line of a cell shows it.

        Examples:
          >>> import ensemble
          >>> run = ensemble.open_run("three of them")
          >>> view = run.view("calibration")
          >>> view.answer
          'Surer than it should be: ...'
          >>> list(view.tables), list(view.figures)
          (['What a temperature saves', 'Brier score in parts'], ['Confidence against accuracy'])
          >>> run.view("selective", error=2).choices
          {'error': '2'}

        Args:
          name: of the view, such as "calibration"; `ensemble inspect --help` lists all.
          epoch: after which epoch; None is the one chosen on validation
            images, else the last; "best" the run's best.
          choices: what the view's controls would say, by their words in an address.

        Raises:
          NotPreparedError: the run's dataset is not on this machine any more.
          RunError: it has no predictions, or none after that epoch, or they cannot be read.
          ConfigError: there is no such view, no such choice of it, or no such word of that.
        """
        from ensemble.api.view import evaluate_run_view  # here: figures take a while to import

        return evaluate_run_view(self.stored, name, self._resolve_epoch(epoch), choices)

    def _resolve_epoch(self, epoch: int | str | None) -> int:
        kept = self.epochs
        if not kept:
            run = self.stored
            problem = f"The run “{run.id}” is {run.state} and has no predictions"
            raise RunError(f"{problem}: {run.message}" if run.message else f"{problem} yet.")
        at = self.status.best_epoch if epoch == "best" else epoch
        if at is None:
            return runs.select_default_epoch(self.stored, kept)
        if at not in kept:
            listed = ", ".join(map(str, kept)) if len(kept) < 9 else f"{kept[0]} to {kept[-1]}"
            raise RunError(f"The run “{self._id}” has no epoch {at!s:.20}. It has {listed}.")
        return int(at)

    def best_value(self, setting: str | None = None) -> BestValue:
        """Of a setting that differs by member the best value, and the range not told apart from it.

        By validation NLL after the epoch chosen by it, else by test NLL after the last.

        Args:
          setting: "learning_rate", "momentum" or "weight_decay"; None is the one that differs.

        Raises:
          ConfigError: no setting differs in this run, or not this one.
          RunError: no epoch has ended yet, or its predictions cannot be read.
        """
        return find_best_setting_value(self.stored, setting)

    def export(
        self,
        path: str | Path,
        format: str | None = None,  # noqa: A002 (as on the command line)
        *,
        epoch: int | Literal["best"] | None = None,
        temperature: float | Literal["fitted"] | None = None,
        replace: bool = False,
    ) -> "ExportedFile":
        """Write its members, or its curves, for other programs; see docs/take_it_away.md.

        A process of its own does it, as of `predict`: JAX here stays as it is.

        Args:
          path: the file, or the folder.
          format: "npz", "safetensors", "onnx", "stablehlo", "folder", "csv" or "tensorboard"; by
            default the one of the path's ending, "npz" without an ending.
          epoch: after which epoch, as of `predict`.
          temperature: of the averaged probabilities in "onnx" and "stablehlo": a number from 1/16
            to 16, or "fitted" to the validation images; None leaves them as they are.
          replace: whether what is there may go.

        Returns:
          What was written, and its `figures` by what was read back from it.

        Raises:
          ConfigError: there is no such format, or the path has the ending of another, or the run's
            network does not fit into it, or a package that it takes is not installed.
          RunError: it was trained elsewhere, or keeps no members of that epoch.
          PredictionsError: it is there already and may not go, or cannot be written.
        """
        from ensemble.export.export_process import export_in_process

        return export_in_process(
            self._id,
            Path(path),
            format,
            epoch=self.status.best_epoch if epoch == "best" else epoch,
            temperature=temperature,
            replace=replace,
        )
