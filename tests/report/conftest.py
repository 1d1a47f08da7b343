"""One run with all that a report shows, and its page: made once for all tests."""

from collections.abc import Iterator

import pytest

from ensemble import runs
from ensemble.report import render_report
from ensemble.runs.annotations.notes import write_run_note
from tests.pages.ensembles import trained
from tests.report.pages import Page

NAME = '</script><img src="http://zz.example/x" onerror=zz()> & “zz”'
NOTE = "<script>zz()</script> $title ${script}"


@pytest.fixture(scope="package")
def written(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[runs.Run, str]]:
    """A run of three members with a name that would do harm, and its report."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ENSEMBLE_RUNS", str(tmp_path_factory.mktemp("reported")))
        run = trained(name=NAME, validation=0.1, seconds=80.0)
        write_run_note(run.id, NOTE)
        yield runs.find_run(run.id), render_report([runs.find_run(run.id)])


@pytest.fixture(scope="package")
def page(written: tuple[runs.Run, str]) -> Page:
    """The same, taken apart."""
    return Page(written[1])
