"""What each role may do, with its own and with another's."""

import itertools
import json

import pytest

from ensemble.access import (
    LOCAL,
    NOBODY,
    Action,
    Person,
    Role,
    audit_log,
    check_permission,
    current_person,
    is_permitted,
    owners,
    set_person_source,
)
from ensemble.errors import AccessError
from ensemble.storage.folders import runs_folder

ANN, BOB = (Person(f"{name}@example.org", Role.MEMBER) for name in ("ann", "bob"))
VIEWER, ADMIN = Person("eve@example.org", Role.VIEWER), Person("root@example.org", Role.ADMIN)
HARMLESS = (Action.LOOK, Action.CLASSIFY)


@pytest.fixture(autouse=True)
def nobody_is_asked_afterwards():
    yield
    set_person_source(None)


def test_one_on_a_machine_of_their_own_may_everything() -> None:
    assert current_person() == LOCAL
    assert all(is_permitted(LOCAL, one, owner) for one in Action for owner in (None, "", ANN.name))


def test_a_visitor_may_nothing_and_a_viewer_only_look_and_classify() -> None:
    for action, owner in itertools.product(Action, (None, "", VIEWER.name)):
        assert not is_permitted(NOBODY, action, owner)
        assert is_permitted(VIEWER, action, owner) == (action in HARMLESS)


def test_members_touch_their_own_and_admins_everything() -> None:
    for action in (Action.STOP, Action.CHANGE, Action.DELETE):
        assert is_permitted(ANN, action, ANN.name)
        assert not is_permitted(ANN, action, BOB.name)
        assert not is_permitted(ANN, action, "")
        assert is_permitted(ADMIN, action, BOB.name)
    assert is_permitted(ANN, Action.LAUNCH)


@pytest.mark.parametrize(
    ("person", "said"), [(NOBODY, "not signed in"), (VIEWER, "look and classify"), (ANN, "belongs to bob@")]
)
def test_a_refusal_says_what_it_takes(person: Person, said: str) -> None:
    set_person_source(lambda: person)
    with pytest.raises(AccessError, match=said):
        check_permission(Action.DELETE, BOB.name)


def test_what_is_launched_has_its_owner_and_a_line_of_the_audit() -> None:
    set_person_source(lambda: ANN)
    folder = runs_folder() / "some-run"
    folder.mkdir(parents=True)
    owners.write_owner(folder)
    audit_log.write_audit_entry(Action.LAUNCH, "some-run")
    assert owners.read_owner(folder) == ANN.name
    line = json.loads((runs_folder() / audit_log.LOG_FILE).read_text())
    assert (line["who"], line["action"], line["subject"]) == (ANN.name, "launch", "some-run")
    set_person_source(None)
    audit_log.write_audit_entry(Action.DELETE, "some-run")
    assert len((runs_folder() / audit_log.LOG_FILE).read_text().splitlines()) == 1
