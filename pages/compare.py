"""Compare: what several runs come to beside each other."""

from ensemble.config import REGRESSION
from ensemble.ui.compare import run_picker, selected_runs, views
from ensemble.ui.render import render_view
from ensemble.ui.shared import address, navigation
from ensemble.views.numeric.regression_groups import build_regression_comparison


def show_compare_page() -> None:
    runs = selected_runs.restore_selected_runs()
    regressions = selected_runs.read_selected_runs(REGRESSION)
    if runs.runs:
        run_picker.show_comparison_header(runs)
        views.show_comparison_view(runs)
    elif len(regressions.runs) > 1:
        run_picker.show_comparison_header(regressions)
        render_view(build_regression_comparison(regressions.runs, address.BASELINE.read()))
    else:
        run_picker.show_comparison_problems(runs)
        run_picker.show_comparison_introduction()


navigation.draw_page("compare", show_compare_page)
