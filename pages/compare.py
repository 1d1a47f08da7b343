"""Compare: what several runs come to beside each other."""

from ensemble.ui.compare import run_picker, selected_runs, views
from ensemble.ui.shared import navigation


def show_compare_page() -> None:
    runs = selected_runs.restore_selected_runs()
    if runs.runs:
        run_picker.show_comparison_header(runs)
        views.show_comparison_view(runs)
    else:
        run_picker.show_comparison_problems(runs)
        run_picker.show_comparison_introduction()


navigation.draw_page("compare", show_compare_page)
