"""How many tabs so many open files are said to be enough for."""

import pytest

from ensemble.machine import open_files
from ensemble.ui.shared import serving


@pytest.mark.parametrize(
    ("limit", "said"),
    [(48, "48 open files, too few"), (64, "about 1 browser tabs"), (96, "about 4 browser tabs")],
)
def test_a_server_that_can_serve_nobody_says_so(
    limit: int, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(open_files, "raise_limit", lambda: limit)
    serving.few_tabs.cache_clear()
    try:
        assert said in serving.few_tabs()
    finally:
        serving.few_tabs.cache_clear()
