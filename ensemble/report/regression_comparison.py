"""Several regressions beside each other: which settings are best, and each run in short."""

from collections.abc import Sequence

from ensemble.report.report_content import ReportContent
from ensemble.report.single_run import NUMERIC_SENTENCE
from ensemble.runs.store import Run
from ensemble.views.iteration import iterate_parts
from ensemble.views.numeric.regression_groups import build_regression_comparison
from ensemble.views.parts import Listing, Section
from ensemble.wording import formats
from ensemble.wording.run_names import format_run_name


def build_regression_comparison_content(every: Sequence[Run]) -> ReportContent:
    targets = ", ".join(dict.fromkeys(filter(None, (run.target_name for run in every))))
    members = formats.format_count(every[0].config.members, "member")
    rows = [
        (
            format_run_name(run),
            f"{run.id} · {run.state} · epoch {run.status.epoch} of {run.status.epochs}"
            f" · RMSE {formats.format_significant(run.status.ensemble_test_rmse)} in the last epoch",
        )
        for run in every
    ]
    sections = [
        Section("Side by side", list(iterate_parts(build_regression_comparison(every)))),
        Section("Runs", [Listing(rows)]),
    ]
    title = f"{formats.format_count(len(every), 'run')} compared"
    return ReportContent(title, "", targets, NUMERIC_SENTENCE.format(count=members), sections)
