"""Which predictions are kept in memory."""

import pytest

from ensemble import runs
from ensemble.config import EnsembleConfig
from ensemble.runs.history import write_predictions
from ensemble.ui.predictions import loader
from tests.analysis.draws import distributions


@pytest.mark.parametrize("beyond", [0, 1])
def test_of_files_beyond_the_limit_two_are_kept_and_of_others_more(
    beyond: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = runs.create_run(EnsembleConfig(members=2))
    for epoch in (1, 2, 3):
        write_predictions(run.path, epoch, distributions(2, 500, 10, seed=epoch))
    sizes = {path.stat().st_size for path in (run.path / "predictions").iterdir()}
    monkeypatch.setattr(loader, "_LARGE_FILE_BYTES", (min(sizes) if beyond else max(sizes)) - beyond)
    found = [loader.load_test_predictions(run, epoch) for epoch in (1, 2, 3)]
    assert loader.load_test_predictions(run, 3) is found[2]
    assert (loader.load_test_predictions(run, 1) is found[0]) == (not beyond)
