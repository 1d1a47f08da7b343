"""A report to a file: whole or not at all, and never over another that was not meant."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from ensemble import runs
from ensemble.config import REGRESSION
from ensemble.errors import PredictionsError
from ensemble.exchange.capsule.capsule_format import EXACT, ROUNDED, WEIGHTS
from ensemble.exchange.capsule.capsule_writer import render_run_capsules
from ensemble.regression import Regression, find_any_regression
from ensemble.report import regression_solve, run_comparison, single_run
from ensemble.report.page_classifier import build_page_classifiers
from ensemble.report.regression_comparison import build_regression_comparison_content
from ensemble.report.template import render_report_page
from ensemble.storage.atomic_files import write_bytes
from ensemble.storage.disk_errors import describe_os_error, describe_remedy
from ensemble.wording import formats

_NUMERIC_DATA_SENTENCE = (
    "Inside this file are the numbers of its figures and tables, not the predictions themselves: "
    "keep the run’s folder, or the file that was imported."
)
_MAX_REPORT_RUNS = 50  # runs, as many as Compare takes


@dataclass(frozen=True)
class WrittenReport:
    """What was written, and where.

    Attributes:
      path: the file.
      bytes: how large it is.
      run_ids: whose report it is.
      members: whether what the members have learnt is inside.
      all_epochs: whether the predictions of every epoch are, else those of the last.
      weights: "float32", exact, or "float16", rounded: what the members have learnt; "" without.
    """

    path: Path
    bytes: int
    run_ids: tuple[str, ...]
    members: bool
    all_epochs: bool
    weights: str = ""


def write_report(
    run_ids: Sequence[str],
    path: Path,
    *,
    with_members: bool = False,
    all_epochs: bool = False,
    weights: str = EXACT,
    replace: bool = False,
) -> WrittenReport:
    """Write a run, or several beside each other, as one HTML file with their data inside.

    Args:
      run_ids: one, or up to 50; one that comes twice counts once.
      path: the file; its folder exists.
      weights: "float16" rounds the members' weights, and halves what they take; else "float32".

    Raises:
      UnknownRunError: there is no such run.
      RunError: a file of a run is damaged; or one keeps no members, and they are asked for.
      PredictionsError: none or too many runs; the file is there already, or cannot be written.
    """
    reported_runs = find_reported_runs(run_ids)
    if not replace and path.exists():
        raise PredictionsError(f"{path} already exists: choose another name, or use --force to replace it.")
    if not path.parent.is_dir():
        raise PredictionsError(
            f"{path} cannot be written, because its folder does not exist: create it, or choose another file name."
        )
    page = render_report(reported_runs, with_members=with_members, all_epochs=all_epochs, weights=weights).encode()
    try:
        write_bytes(path, page)
    except OSError as error:
        raise PredictionsError(
            f"{path} cannot be written ({describe_os_error(error)}): {describe_remedy(error)}, or name another file."
        ) from error
    ids = tuple(run.id for run in reported_runs)
    kept = weights if with_members else ""
    return WrittenReport(
        path=path, bytes=len(page), run_ids=ids, members=with_members, all_epochs=all_epochs, weights=kept
    )


def find_reported_runs(run_ids: Sequence[str]) -> list[runs.Run] | list[Regression]:
    """The runs of these ids, each once: of classes, or one of another kind.

    Raises:
      UnknownRunError: there is no such run.
      PredictionsError: several are of different tasks, or one of them is an L-BFGS regression.
    """
    ids = list(dict.fromkeys(run_ids))
    regressions = [solve for run_id in ids if (solve := find_any_regression(run_id))]
    if regressions and len(ids) > 1:
        raise PredictionsError(
            f"“{regressions[0].id}” is a regression, and a report of several runs is of ensembles: name it alone."
        )
    if regressions:
        return regressions
    every = [runs.find_run(run_id) for run_id in ids]
    numeric_runs = [run for run in every if run.task == REGRESSION]
    if numeric_runs and len(numeric_runs) < len(every):
        raise PredictionsError(
            f"The run “{numeric_runs[0].id}” predicts numbers and others classify images: name runs of one task."
        )
    return every


def render_report(
    every: Sequence[runs.Run] | Sequence[Regression],
    *,
    with_members: bool = False,
    all_epochs: bool = False,
    weights: str = EXACT,
) -> str:
    """The page itself.

    Args:
      with_members: see `write_report`.
      all_epochs: see `write_report`.
      weights: see `write_report`.

    Raises:
      RunError, PredictionsError: see `write_report`.
    """
    if not 1 <= len(every) <= _MAX_REPORT_RUNS:
        raise PredictionsError(f"A report holds 1 to {_MAX_REPORT_RUNS} runs, not {len(every):,}: name others.")
    if isinstance(every[0], Regression):
        if with_members:
            raise PredictionsError(f"“{every[0].id}” is a regression and has no members: leave --with-members out.")
        return render_report_page(
            regression_solve.build_regression_content(every[0]), (), regression_solve.DATA_SENTENCE
        )
    if every[0].task == REGRESSION:
        if with_members:
            raise PredictionsError(
                f"The run “{every[0].id}” predicts numbers: its members cannot be kept in a "
                "report. Leave --with-members out."
            )
        several = cast(Sequence[runs.Run], every)
        content = (
            build_regression_comparison_content(several)
            if len(several) > 1
            else single_run.build_run_content(several[0])
        )
        return render_report_page(content, (), _NUMERIC_DATA_SENTENCE)
    return _render_class_report(cast(Sequence[runs.Run], every), with_members, all_epochs, weights)


def _render_class_report(every: Sequence[runs.Run], with_members: bool, all_epochs: bool, weights: str) -> str:
    content = (
        single_run.build_run_content(every[0]) if len(every) == 1 else run_comparison.build_comparison_content(every)
    )
    if weights not in WEIGHTS:
        raise PredictionsError(f"There are no weights {weights!r:.40}: choose {' or '.join(WEIGHTS)}.")
    capsules = render_run_capsules(every, with_members=with_members, all_epochs=all_epochs, weights=weights)
    return render_report_page(
        content,
        capsules,
        _describe_report_data(every, with_members, all_epochs, capsules, weights),
        build_page_classifiers(every) if with_members else (),
    )


def _describe_report_data(
    every: Sequence[runs.Run], with_members: bool, all_epochs: bool, capsules: Sequence[str], weights: str = EXACT
) -> str:
    size = sum(map(len, capsules)) / 1e6
    whose = "this run's" if len(every) == 1 else "these runs'"
    kept = [(run, runs.list_prediction_epochs(run.id)) for run in every]
    chosen = any(epochs and runs.select_default_epoch(run, epochs) != epochs[-1] for run, epochs in kept)
    some = "after the last epoch and the one chosen" if chosen else "after the last epoch"
    held = f"settings, history and predictions {'of every epoch' if all_epochs else some}"
    left = [] if with_members else ["the members' parameters (--with-members)"]
    if not all_epochs and any(len(epochs) > 1 for _, epochs in kept):
        left.append("the predictions of other epochs (--all-epochs)")
    sentence = f"Inside this file are {whose} {held}"
    sentence += ", and the members' parameters" if with_members else ""
    sentence += " rounded to float16" if with_members and weights == ROUNDED else ""
    without = f" Left out: {' and '.join(left)}." if left else ""
    return f"{sentence}: {formats.format_significant(size, 2)} MB.{without}"
