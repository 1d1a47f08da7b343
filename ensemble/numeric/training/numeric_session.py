"""One stretch of training a run that predicts numbers: from its last checkpoint to its end."""

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemble.analysis.numeric.normal_mixture import Doubles, NormalMixture
from ensemble.analysis.numeric.numeric_quality import measure_numeric_quality
from ensemble.config.numeric_config import NumericConfig
from ensemble.engine import CallPacer, choose_devices
from ensemble.engine.numeric import NumericMetrics, NumericTrainer, TrainingRows
from ensemble.jobs.outcome import STOPPED_OUTCOME, Outcome, StopRequest, limit_stop_checks
from ensemble.jobs.status import StatusWriter
from ensemble.jobs.worker import ReportStatus
from ensemble.machine.jax_settings import read_device_info
from ensemble.numeric.numeric_predictions import CURVE, write_numeric_predictions
from ensemble.numeric.numeric_status import NumericStatus, build_numeric_epoch_line, build_numeric_status_fields
from ensemble.numeric.numeric_store import NumericRun
from ensemble.numeric.training.numeric_checkpoints import (
    NumericProgress,
    restore_numeric_checkpoint,
    save_numeric_checkpoint,
)
from ensemble.numeric.training.numeric_launch import require_numeric_config
from ensemble.runs.epoch_files import locate_epoch_file
from ensemble.runs.history import drop_predictions
from ensemble.runs.parameters import MAX_BYTES, drop_parameters, write_parameters
from ensemble.runs.parameters import select_parameter_epochs as select_kept_epochs
from ensemble.runs.training.clock import TrainingClock
from ensemble.storage.atomic_files import read_json, write_json
from ensemble.storage.records.field_checks import parse_dataclass
from ensemble.storage.records.json_lines import Line, append_line, convert_to_json, keep_matching_lines, read_lines
from ensemble.tables.prepared_table import PreparedTable, read_prepared_table

_CHECKPOINT_SECONDS = 20.0
_HISTORY_FILE, _DEVICES_FILE = "history.jsonl", "devices.json"
PARTS = ("validation", "test")
ADVICE = "The usual cause is a learning rate too high: try a third of it, or a target without extreme values."


class NumericSession:
    """Trains a run and writes down what happens.

    Args:
      run: whose worker this process is.
      status: the hold on its status.json.
      stop: asked between compiled calls.
      report: called with each new status.
    """

    def __init__(
        self, run: NumericRun, status: StatusWriter[NumericStatus], stop: StopRequest, report: ReportStatus
    ) -> None:
        self._run, self._status, self._report = run, status, report
        self._stop = limit_stop_checks(stop)
        self._config: NumericConfig = require_numeric_config(run)
        self._table: PreparedTable = read_prepared_table(run.path)
        split = self._table.split
        self._trainer = NumericTrainer(
            self._config,
            TrainingRows(*self._table.select_part(split.train)),
            _choose_run_devices(run.path, self._config),
        )
        judged = np.concatenate([split.validation, split.test])
        self._judged = len(judged)
        self._judged_features = np.concatenate(
            [self._table.features[judged], self._table.encoding.build_curve_features()]
        )
        self._clock = TrainingClock(
            self._config,
            self._trainer.steps_per_epoch,
            len(self._judged_features),
            status.status.compile_seconds or 0.0,
        )
        self._pace, self._saved = CallPacer(), time.monotonic()
        self._damaged = list[str]()

    def train_run(self) -> Outcome:
        """Go on from the last checkpoint until the run is finished, stopped or diverged."""
        self._start_training()
        progress, epochs = self._progress, self._config.epochs
        while progress.evaluated < epochs:
            if not self._trainer.active.any():
                return self._end(self._build_diverged_outcome())
            if self._stop():
                self._save_checkpoint()
                return self._end(STOPPED_OUTCOME)
            if progress.step_in_epoch < progress.steps_per_epoch:
                self._train_chunk()
            else:
                self._evaluate_epoch()
        if not self._trainer.active.any():
            return self._end(self._build_diverged_outcome())
        return self._end(Outcome("finished", " ".join([*self._damaged, *self._list_lost_words()])))

    def _start_training(self) -> None:
        """Take up the last checkpoint, or the beginning; compile; drop what comes again."""
        self._update_status(message="Compiling the training step.")
        trainer, members = self._trainer, self._config.members
        blank = NumericProgress.create_blank(trainer.create_blank_state(), members, trainer.steps_per_epoch)
        restored, self._damaged = restore_numeric_checkpoint(self._run.path, blank)
        self._progress = restored or blank
        began = time.perf_counter()
        self._state = trainer.put(restored.state) if restored else trainer.init_members()
        self._progress.state = None
        self._state = trainer.compile(self._state, self._judged_features)
        self._clock.record_compile_time(time.perf_counter() - began)
        lost = {member: step for member, step in self._status.status.set_aside.items() if step <= self._progress.step}
        trainer.freeze_members(list(lost))
        self._drop_after_checkpoint(lost)
        used = {"used": len(trainer.layout.devices), "members_per_device": trainer.layout.lanes}
        write_json(self._run.path / _DEVICES_FILE, {**read_device_info(), **used})
        self._update_status(**self._build_progress_fields())

    def _drop_after_checkpoint(self, lost: dict[int, int]) -> None:
        done, folder = self._progress.evaluated, self._run.path
        history = folder / _HISTORY_FILE
        keep_matching_lines(history, lambda line: line.get("epoch", 0) <= done)
        drop_predictions(folder, after=done)
        drop_predictions(folder, after=done, what="validation")
        drop_predictions(folder, after=done, what=CURVE)
        drop_parameters(folder, after=done)
        self._status.update(
            set_aside=lost,
            best_epoch=None,
            best_score=None,
            best_on="validation" if len(self._table.split.validation) else "test",
        )
        for line in read_lines(history):
            self._status.update(**build_numeric_status_fields(self._status.status, line))

    def _train_chunk(self) -> None:
        progress = self._progress
        epoch, start = progress.evaluated + 1, progress.step_in_epoch
        count = self._pace.choose_units(progress.steps_per_epoch - start)
        began = time.perf_counter()
        self._state, metrics = self._trainer.train(self._state, epoch, start, count)
        seconds = time.perf_counter() - began
        self._pace.record_duration(count, seconds)
        self._clock.record_steps(count, seconds)
        self._set_diverged_aside(metrics)
        rows = slice(start, start + count)
        progress.nll[:, rows], progress.squared_error[:, rows] = metrics
        progress.step += count
        progress.seconds += seconds
        if progress.step_in_epoch < progress.steps_per_epoch:
            self._update_status(**self._build_progress_fields())
            self._save_checkpoint_if_old()

    def _set_diverged_aside(self, metrics: NumericMetrics) -> None:
        bad = ~np.isfinite(metrics.nll) & self._trainer.active[:, None]
        self._freeze_members(
            {
                int(member): self._progress.step + int(bad[member].argmax()) + 1
                for member in np.flatnonzero(bad.any(axis=1))
            }
        )

    def _freeze_members(self, lost: Mapping[int, int]) -> None:
        if lost:
            self._trainer.freeze_members(list(lost))
            self._status.update(set_aside={**self._status.status.set_aside, **lost})

    def _evaluate_epoch(self) -> None:
        progress, trainer = self._progress, self._trainer
        began = time.perf_counter()
        answer = trainer.predict(self._state, self._judged_features, self._stop)
        if answer is None:
            return
        encoding = self._table.encoding
        mean = answer[0].astype(np.float64) * encoding.target_scale + encoding.target_mean
        variance = answer[1].astype(np.float64) * encoding.target_scale**2
        curve = mean[:, self._judged :], variance[:, self._judged :]
        mean, variance = mean[:, : self._judged], variance[:, : self._judged]
        usable = np.isfinite(mean).all(axis=1) & (variance > 0).all(axis=1)
        usable &= np.isfinite(variance).all(axis=1)
        self._freeze_members(dict.fromkeys(np.flatnonzero(trainer.active & ~usable).tolist(), progress.step))
        if not trainer.active.any():
            return
        progress.seconds += time.perf_counter() - began
        epoch = progress.evaluated + 1
        line = self._build_epoch_line(mean, variance)
        fields = build_numeric_status_fields(self._status.status, line)
        best = fields.get("best_epoch") or self._status.status.best_epoch or epoch
        self._write_epoch_files(epoch, best, mean, variance, curve)
        append_line(self._run.path / _HISTORY_FILE, line)
        progress.evaluated = epoch
        progress.nll[:], progress.squared_error[:] = 0, 0
        self._update_status(**fields, **self._build_progress_fields())
        self._clock.record_epoch_end(time.perf_counter() - began)
        if epoch == self._config.epochs:
            self._save_checkpoint()
        else:
            self._save_checkpoint_if_old()

    def _build_epoch_line(self, mean: Doubles, variance: Doubles) -> Line:
        """An epoch's line, in the targets' unit; None stands for members that diverged."""
        progress, scale = self._progress, self._table.encoding.target_scale
        active, held = self._trainer.active, len(self._table.split.validation)
        remaining = np.flatnonzero(active)
        mixture = NormalMixture(mean[remaining], variance[remaining])
        parts = {
            "validation": (np.arange(held), self._table.split.validation),
            "test": (np.arange(held, mean.shape[1]), self._table.split.test),
        }
        more: dict[str, Any] = {
            "train_loss": progress.nll.mean(axis=1, dtype=np.float64) + np.log(scale),
            "train_rmse": np.sqrt(progress.squared_error.mean(axis=1, dtype=np.float64)) * scale,
        }
        if held:
            places, rows = parts["validation"]
            own, targets = mixture.select_examples(places), self._table.targets[rows]
            whole = measure_numeric_quality(own, targets)
            each = [measure_numeric_quality(own.select_members([place]), targets) for place in range(own.members)]
            more |= {
                "validation_rmse": [member.rmse for member in each],
                "validation_nll": [member.nll for member in each],
                "ensemble_validation_rmse": whole.rmse,
                "ensemble_validation_nll": whole.nll,
            }
        if len(remaining) < len(active):
            more["set_aside"] = np.flatnonzero(~active).tolist()
        places, rows = parts["test"]
        line = build_numeric_epoch_line(
            mixture.select_examples(places),
            self._table.targets[rows],
            progress.evaluated + 1,
            step=progress.step,
            **more,
            **self._summarize_time(self._clock.summarize_now(progress.seconds)),
        )
        return convert_to_json({**line, **_pad_member_figures(line, active)})

    def _write_epoch_files(
        self, epoch: int, best: int, mean: Doubles, variance: Doubles, curve: tuple[Doubles, Doubles]
    ) -> None:
        """Write what members predict, and their parameters; drop the oldest if they are large."""
        folder, held = self._run.path, len(self._table.split.validation)
        mean, variance = mean.copy(), variance.copy()
        mean[~self._trainer.active], variance[~self._trainer.active] = np.nan, np.nan
        write_numeric_predictions(folder, epoch, mean[:, held:], variance[:, held:])
        if held:
            write_numeric_predictions(folder, epoch, mean[:, :held], variance[:, :held], "validation")
        if curve[0].size:
            write_numeric_predictions(folder, epoch, *curve, CURVE)
        written = [CURVE] if curve[0].size else []
        for what in ("predictions", *(("validation",) if held else ()), *written):
            _drop_excess_predictions(folder, what, epoch, best)
        write_parameters(folder, epoch, self._trainer.get(self._state.params), best)

    def _save_checkpoint(self) -> None:
        self._progress.state = self._trainer.get(self._state)
        save_numeric_checkpoint(self._run.path, self._progress)
        self._progress.state = None
        self._saved = time.monotonic()

    def _save_checkpoint_if_old(self) -> None:
        if time.monotonic() - self._saved > _CHECKPOINT_SECONDS:
            self._save_checkpoint()

    def _end(self, outcome: Outcome) -> Outcome:
        total = self._clock.summarize_total(self._progress.seconds, self._progress.step)
        self._status.update(**self._summarize_time(total))
        return outcome

    def _list_lost_words(self) -> list[str]:
        return [
            f"Member {member + 1} diverged at step {step:,} and counts in no figure since."
            for member, step in sorted(self._status.status.set_aside.items())
        ]

    def _build_diverged_outcome(self) -> Outcome:
        last = max(self._status.status.set_aside.values())
        return Outcome(
            "diverged",
            f"No member's loss is a number any longer: the last one failed at step {last:,} (epoch "
            f"{self._progress.evaluated + 1}). {ADVICE} Everything before that is kept.",
        )

    def _update_status(self, **changes: Any) -> None:
        self._status.update(**changes)
        self._report(self._status.status)

    def _build_progress_fields(self) -> dict[str, Any]:
        progress, epochs = self._progress, self._config.epochs
        spent = self._clock.summarize_progress(progress.seconds, progress.step, progress.evaluated)
        return {
            "state": "training",
            "message": "",
            "epoch": progress.evaluated,
            "epochs": epochs,
            "step": progress.step,
            "steps": epochs * progress.steps_per_epoch,
            **self._summarize_time(spent),
        }

    @staticmethod
    def _summarize_time(fields: Mapping[str, Any]) -> dict[str, Any]:
        """The clock's fields by the names that a run of numbers has for them."""
        names = {"img_member_per_s": "example_member_per_s"}
        return {names.get(name, name): value for name, value in fields.items()}


def _choose_run_devices(folder: Path, config: NumericConfig) -> list[Any]:
    """The devices to train on; a resumed run keeps the number it began with, for the same bits."""
    # Imported here: it reads the file of any run.
    from ensemble.runs.training.session import DevicesFile

    try:
        used = parse_dataclass(DevicesFile, read_json(folder / _DEVICES_FILE)).used
    except (OSError, ValueError):
        return choose_devices(config.devices)
    return choose_devices(0)[:used]


def _pad_member_figures(line: Line, active: NDArray[np.bool_]) -> dict[str, list[Any]]:
    """The lists of the members that remain, with None in the places of the others."""
    places, padded = np.flatnonzero(active), dict[str, list[Any]]()
    for name, values in line.items():
        if name.startswith(PARTS) and isinstance(values, list):
            padded[name] = [None] * len(active)
            for place, value in zip(places, values, strict=True):
                padded[name][place] = value
    return padded


def _drop_excess_predictions(folder: Path, what: str, last: int, best: int) -> None:
    """Delete what would take more than a run keeps, evenly spaced, as with parameters."""
    size = locate_epoch_file(folder, what, last).stat().st_size
    most = max(1, MAX_BYTES // size)
    if last <= most:
        return
    wanted = select_kept_epochs(last, best, most)
    for epoch in range(1, last):
        if epoch not in wanted:
            locate_epoch_file(folder, what, epoch).unlink(missing_ok=True)
