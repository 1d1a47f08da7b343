"""How a run is made again, and how it is cited."""

from collections.abc import Iterator

from ensemble.runs import Run
from ensemble.views.parts import CopyableText
from ensemble.wording.provenance import bibtex_of, citation_of, command_of

AGAIN = "The command that makes it again"


def parts(run: Run) -> Iterator[CopyableText]:
    """The command that makes it again, where there is one, and two forms of a citation."""
    if command := command_of(run):
        yield CopyableText(AGAIN, command)
    yield CopyableText("To cite it", citation_of(run))
    yield CopyableText("As BibTeX", bibtex_of(run))
