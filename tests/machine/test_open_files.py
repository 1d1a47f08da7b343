"""How many tabs so many open files are said to be enough for."""

import pytest

from ensemble.machine import open_files
from ensemble.ui.shared import server


@pytest.mark.parametrize(
    ("limit", "said"), [(48, "48 open files, too few"), (64, "about 1 browser tabs"), (96, "about 4 browser tabs")]
)
def test_a_server_that_can_serve_nobody_says_so(limit: int, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(open_files, "raise_open_file_limit", lambda: limit)
    server.raise_tab_limit.cache_clear()
    try:
        assert said in server.raise_tab_limit()
    finally:
        server.raise_tab_limit.cache_clear()
