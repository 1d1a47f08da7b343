"""A regression by L-BFGS as sections: what pmap bought, its pictures, what it was solved on."""

from time import localtime

from ensemble.regression import Regression, read_regression_traces
from ensemble.report.report_content import ReportContent
from ensemble.views.iteration import iterate_parts
from ensemble.views.parts import Listing, Section
from ensemble.views.regression import build_regression
from ensemble.wording.provenance import MONTHS
from ensemble.wording.run_names import format_regression_settings, format_run_name

DATA_SENTENCE = "Inside this file are the numbers of its figures and tables."
_INTRODUCTION = (
    "One logistic regression, solved by L-BFGS: on one device, and spread over several with pmap. "
    "The path is the same; what differs is the time."
)


def build_regression_content(solve: Regression) -> ReportContent:
    settings = format_regression_settings(solve.config)
    parts = [settings]
    if solve.status.created:
        day = localtime(solve.status.created)
        parts.append(f"made {day.tm_mday} {MONTHS[day.tm_mon - 1]} {day.tm_year}")
    traces = read_regression_traces(solve.path)
    rows = [(name, str(value)) for name, value in solve.config.as_dict().items()]
    return ReportContent(
        format_run_name(solve),
        solve.state,
        " · ".join((*parts, solve.id)),
        _INTRODUCTION,
        [
            Section("Result", list(iterate_parts(build_regression(solve, traces, settings)))),
            Section("What it is", [Listing(rows)]),
        ],
    )
