"""On a shared server: what a role may not do is disabled, with the reason; all may be looked at."""

import functools
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from ensemble.access import Action, Person, Role, audit_log, owners, set_person_source
from ensemble.access.server_access import AccessMode
from ensemble.access.visitor_claims import Visit
from ensemble.exchange import capsule
from ensemble.exchange.array_input import convert_arrays_to_outputs
from ensemble.runs import Run
from ensemble.ui.runs.imports import predictions, report
from ensemble.ui.shared import loaders
from ensemble.ui.sign_in import visitors
from tests.exchange.capsule.pages import written
from tests.exchange.given import LABELS, PROBABILITIES
from tests.pages import uploads
from tests.pages.ensembles import trained
from tests.pages.predictions_screen import opened
from tests.pages.stressed import checkpointed

ANN = "ann@example.org"
Comes = Callable[[Role], None]


@pytest.fixture
def comes(monkeypatch: pytest.MonkeyPatch) -> Iterator[Comes]:
    """Has every tab be that of somebody of a role."""

    def somebody(role: Role) -> None:
        # What a tab without a browser cannot have are the headers of a proxy.
        visit = Visit(Person(ANN, role))
        monkeypatch.setattr(visitors, "identify_tab_visitor", lambda: visit)
        monkeypatch.setattr(visitors._IdentityState, "sharing", AccessMode.PROXY)
        set_person_source(visitors.get_current_person)

    yield somebody
    set_person_source(None)


def why(control: object) -> str:
    """Why a control is disabled; "" where it is not."""
    return str(control.help) if control.disabled else ""  # type: ignore[attr-defined]


def test_a_viewer_adds_no_data_and_is_told_why(comes: Comes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ENSEMBLE_DATA", str(tmp_path / "data"))
    job = uploads.read_through()
    comes(Role.VIEWER)
    at = opened(page="data", upload=job.id)
    for key in ("data_accept", "data_discard", "data_reread"):
        assert "not add data: ask an admin" in why(at.button(key=key))
    comes(Role.MEMBER)
    assert not opened(page="data", upload=job.id).button(key="data_accept").disabled


def test_a_viewer_keeps_nothing_that_was_handed_in(comes: Comes, tmp_path: Path) -> None:
    found = capsule.read_report_capsules(written(tmp_path, trained(members=1, epochs=1)))
    theirs = convert_arrays_to_outputs(PROBABILITIES, LABELS)

    def keeps(which: object) -> AppTest:
        # The script that it becomes knows no names of this file: the annotation is text.
        def page(show: "Callable[[], None]") -> None:
            show()

        return AppTest.from_function(page, args=(which,)).run(timeout=240)

    dialogs = (
        lambda: report.show_report_runs(found, ["a.html"], lambda _: None),
        lambda: predictions.show_import_form(theirs, ["a.npz"], lambda _: None),
    )
    for show in dialogs:
        comes(Role.VIEWER)
        assert "not import: ask an admin" in why(keeps(show).button(key="import_keep"))
        comes(Role.MEMBER)
        assert not keeps(show).button(key="import_keep").disabled


def test_a_run_without_an_owner_opens_and_is_an_admins_to_change(comes: Comes, no_owner: Run) -> None:
    for role, reason in (
        (Role.VIEWER, "not change: ask an admin"),
        (Role.MEMBER, "its owner is unknown"),
        (Role.ADMIN, ""),
    ):
        comes(role)
        at = opened(page="runs", run=no_owner.id)
        (tags,) = [one for one in at.multiselect if one.label == "Tags"]
        for control in (tags, at.text_input(key=f"name_of_{no_owner.id}"), at.text_area(key=f"note_of_{no_owner.id}")):
            assert reason in why(control)
            assert bool(why(control)) == (role is not Role.ADMIN)
    comes(Role.VIEWER)
    assert opened(page="inspect", run=no_owner.id).get("plotly_chart")


def test_who_did_what_is_shown_to_admins_alone(comes: Comes) -> None:
    audit_log.write_audit_entry(Action.LAUNCH, "a run", Person("eve@example.org", Role.MEMBER))
    for role in (Role.VIEWER, Role.MEMBER, Role.ADMIN):
        comes(role)
        at = opened(page="devices")
        folds = [one.label for one in at.expander]
        assert ("Who did what" in folds) == (role is Role.ADMIN)
        tables = [table.value for table in at.dataframe if "Did" in table.value]
        assert any("eve@example.org" in table["Who"].tolist() for table in tables) == (role is Role.ADMIN)


# What changes something on each screen, as its key begins: all else is there to look.
RUN = ["free_space_open", "import_open", "name_of_", "note_of_", "run_pin", "tags_of_"]
ACTS = {
    "an active run": [*RUN, "run_stop"],  # which nobody can delete
    "an ended run": [*RUN, "run_delete", "run_resume"],
    "runs": ["free_space_open", "import_open", "runs_delete", "runs_resume", "runs_stop", "tags_of_"],
    "train": ["fetch_mnist", "launch", "stop"],
    "tune": ["tune_launch", "tune_quick"],
    "numbers": ["import_open", "numbers_quick"],
    "parallel": ["solve_launch", "solve_quick"],
    "shift": ["stress_start"],
}


def list_screens() -> dict[str, Callable[[], AppTest]]:
    """How to open each screen with everything on it that acts."""
    going = trained(done=1, state="training", working=True)
    ended = trained(done=1, state="stopped")
    askable = checkpointed(trained(network="logistic", members=1, epochs=2))
    return {
        "an active run": lambda: opened(going, "runs"),
        "an ended run": lambda: opened(ended, "runs"),
        "runs": lambda: opened(page="runs", runs=f"{going.id},{ended.id}"),
        "train": lambda: opened(going, "train"),
        "shift": lambda: opened(askable, "inspect", view="shift"),
    } | {name: functools.partial(opened, page=name) for name in ("tune", "numbers", "parallel")}


def closed(at: AppTest) -> set[str]:
    """The keys of the controls that cannot be used."""
    kinds = ("button", "text_input", "text_area", "multiselect")
    return {one.key for kind in kinds for one in at.get(kind) if one.key and one.disabled}


def test_all_that_changes_something_is_closed_to_a_viewer_and_says_why(comes: Comes) -> None:
    for name, look in list_screens().items():
        comes(Role.ADMIN)
        admins = closed(look())
        comes(Role.VIEWER)
        at = look()
        theirs = sorted(closed(at) - admins)
        assert len(theirs) == len(ACTS[name]), theirs
        assert all(map(str.startswith, theirs, sorted(ACTS[name]))), theirs
        for one in (*at.button, *at.text_input, *at.text_area, *at.multiselect):
            if one.key in theirs:
                said = why(one) + " ".join(found.value for found in at.caption)
                assert "ask an admin" in said, one.key


@pytest.fixture
def no_owner() -> Run:
    """A run as versions without owners left it."""
    run = trained(members=2, epochs=1)
    assert not (run.path / owners.OWNER_FILE).exists()
    loaders.forget_runs()
    return run
