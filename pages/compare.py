"""Compare: what several runs come to beside each other."""

from ensemble.ui.compare import run_picker, selected_runs, views
from ensemble.ui.render import render_view
from ensemble.ui.shared import address, navigation
from ensemble.views.numeric.regression_groups import build_regression_comparison


def show_compare_page() -> None:
    regressions = selected_runs.list_selected_regressions()
    runs = selected_runs.restore_selected_runs()
    if len(regressions) > 1 and not runs.runs:
        run_picker.show_regression_header(regressions)
        render_view(build_regression_comparison(regressions, address.BASELINE.read()))
    elif runs.runs:
        run_picker.show_comparison_header(runs)
        views.show_comparison_view(runs)
    else:
        run_picker.show_comparison_problems(runs)
        run_picker.show_comparison_introduction()


navigation.draw_page("compare", show_compare_page)
