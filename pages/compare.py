"""Compare: what several runs come to beside each other."""

from ensemble.ui.compare import picker, views, which
from ensemble.ui.shared import entry


def main() -> None:
    found = which.chosen()
    if found.runs:
        picker.header(found)
        views.show(found)
    else:
        picker.problems(found)
        picker.nothing_chosen()


entry.draw("compare", main)
