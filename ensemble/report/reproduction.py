"""How a run is made again, and how it is cited."""

from collections.abc import Iterator

from ensemble.runs import Run
from ensemble.views.parts import CopyableText
from ensemble.wording.provenance import build_rerun_command, format_bibtex, format_citation

REPRODUCTION_LABEL = "The command that makes it again"


def iterate_reproduction_parts(run: Run) -> Iterator[CopyableText]:
    if command := build_rerun_command(run):
        yield CopyableText(REPRODUCTION_LABEL, command)
    yield CopyableText("To cite it", format_citation(run))
    yield CopyableText("As BibTeX", format_bibtex(run))
