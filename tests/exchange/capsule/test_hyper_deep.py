"""An ensemble whose members were chosen from other runs: where each came from goes along."""

import json
from pathlib import Path
from typing import Any

import pytest

from ensemble import runs
from ensemble.errors import PredictionsError
from ensemble.runs.run_folder import SOURCES_FILE
from ensemble.storage.atomic_files import write_json
from ensemble.sweeps.selected_members import list_member_sources
from ensemble.wording.provenance import build_rerun_command
from tests.exchange.capsule.pages import there_and_back
from tests.pages.ensembles import trained

CHOSEN = [
    {"run_id": f"digits-1123-09503{n}", "member": n, "epoch": 2, "settings": {"learning_rate": 0.1 / 3}} for n in (1, 2)
]


def chosen(members: Any = CHOSEN) -> runs.Run:
    """A run as `sweep --select` makes it."""
    made = trained(members=2, epochs=1)
    write_json(made.path / SOURCES_FILE, {"members": members})
    return made


def test_where_its_members_came_from_comes_back_and_no_command_is_said_to_make_it(tmp_path: Path) -> None:
    made = chosen()
    again = there_and_back(tmp_path, made)
    assert list_member_sources(again) == list_member_sources(made) == CHOSEN
    assert build_rerun_command(again) == build_rerun_command(made) == ""


def test_of_another_number_of_members_it_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PredictionsError, match=r"“sources” cannot be used \(it has another num"):
        there_and_back(tmp_path, chosen(CHOSEN[:1]))


@pytest.mark.parametrize("members", [[{**CHOSEN[0], "more": "x"}, {}], "both"])
def test_what_says_something_else_stays_where_it_is(members: Any, tmp_path: Path) -> None:
    made = chosen(members)
    assert not (there_and_back(tmp_path, made).path / SOURCES_FILE).exists()
    assert json.loads((made.path / SOURCES_FILE).read_text())["members"] == members
