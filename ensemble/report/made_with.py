"""How a run is made again, and how it is cited."""

from collections.abc import Iterator

from ensemble.report.contents import Copied
from ensemble.runs import Run
from ensemble.wording.provenance import bibtex_of, citation_of, command_of

AGAIN = "The command that makes it again"


def parts(run: Run) -> Iterator[Copied]:
    """The command that makes it again, where there is one, and two forms of a citation."""
    if command := command_of(run):
        yield Copied(AGAIN, command)
    yield Copied("To cite it", citation_of(run))
    yield Copied("As BibTeX", bibtex_of(run))
