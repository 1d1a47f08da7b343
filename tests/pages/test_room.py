"""How full the folder of runs is, is said beside Launch and on Runs once it is worth a word."""

from collections.abc import Iterator

import pytest

from ensemble.access import usage_limits
from ensemble.storage.folders import count_folder_bytes, runs_folder
from tests.pages.ensembles import trained
from tests.pages.predictions_screen import opened

FULL, NEARLY = ":material/disc_full:", ":material/storage:"


@pytest.fixture(autouse=True)
def looked_at_anew() -> Iterator[None]:
    usage_limits.invalidate_disk_quota()
    yield
    usage_limits.invalidate_disk_quota()


@pytest.mark.parametrize("page", ["train", "runs"])
def test_a_folder_that_is_full_or_nearly_is_said_and_no_other(page: str, monkeypatch: pytest.MonkeyPatch) -> None:
    trained(done=1, epochs=1)
    used = count_folder_bytes(runs_folder())
    at = opened(page=page)
    assert not at.warning
    for share, icons in ((0.85, []), (0.95, [NEARLY]), (1.05, [FULL])):
        monkeypatch.setenv("ENSEMBLE_RUNS_GB", repr(used / share / 1e9))
        usage_limits.invalidate_disk_quota()
        at.run()
        told = [one for one in at.warning if "The folder of runs holds" in one.value]
        assert [one.icon for one in told] == icons
        assert all((" and is full" in one.value) == (icons == [FULL]) for one in told)
