"""What was decided about labels: nothing is lost, whoever decides and however that ends."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from ensemble.access import Person, Role, set_person_source
from ensemble.datasets.decisions import decision_log
from ensemble.datasets.decisions.decision_log import DecisionLog
from ensemble.datasets.decisions.label_decision import KEEP, RELABEL, REMOVE, LabelDecision, serialize_decision
from ensemble.errors import AccessError, StorageError
from tests.conftest import REPO


@pytest.fixture
def log(tmp_path: Path) -> DecisionLog:
    return DecisionLog(tmp_path / "decisions" / "test-0.jsonl")


def standing(log: DecisionLog) -> list[tuple[int, str, int]]:
    return [(each.number, each.decision, each.new_label) for each in log.list_standing_decisions()]


def decide(log: DecisionLog, number: int, decision: str = KEEP, new_label: int = -1) -> None:
    log.append_decision(LabelDecision(decision, number, f"image {number}", 3, new_label, "a run"))


def test_any_number_of_steps_is_taken_back_the_last_first(log: DecisionLog) -> None:
    assert standing(log) == []
    assert log.undo_last_decision() is None
    decide(log, 4)
    decide(log, 7, RELABEL, 1)
    decide(log, 4, REMOVE)
    assert standing(log) == [(7, RELABEL, 1), (4, REMOVE, -1)]
    taken_back = [log.undo_last_decision() for _ in range(3)]
    assert [each.number for each in taken_back if each] == [4, 7, 4]
    assert standing(log) == []
    assert not log.can_undo()
    assert log.undo_last_decision() is None
    decide(log, 9)
    assert standing(log) == [(9, KEEP, -1)]


def test_the_decision_before_stands_again_when_the_last_is_taken_back(log: DecisionLog) -> None:
    decide(log, 4, RELABEL, 2)
    decide(log, 4, REMOVE)
    log.undo_last_decision()
    assert standing(log) == [(4, RELABEL, 2)]


def test_a_key_that_is_pressed_twice_is_taken_back_by_one_press(log: DecisionLog) -> None:
    decide(log, 4, RELABEL, 2)
    decide(log, 4, RELABEL, 2)
    log.undo_last_decision()
    assert standing(log) == []


def start_writer(log: DecisionLog, first: int, count: int) -> "subprocess.Popen[bytes]":
    """A process of its own that decides on so many images."""
    program = (
        "from pathlib import Path\n"
        "from ensemble.datasets.decisions.decision_log import DecisionLog\n"
        "from ensemble.datasets.decisions.label_decision import LabelDecision\n"
        f"log = DecisionLog(Path({str(log.path)!r}))\n"
        f"for number in range({first}, {first + count}):\n"
        "    log.append_decision(LabelDecision('keep', number, '', 3))\n"
    )
    return subprocess.Popen([sys.executable, "-c", program], cwd=REPO)


@pytest.mark.long
def test_two_who_decide_at_once_lose_nothing_and_one_who_is_killed_only_what_comes(log: DecisionLog) -> None:
    writers = [start_writer(log, 0, 20), start_writer(log, 20, 20)]
    killed = start_writer(log, 1000, 10**6)
    for writer in writers:
        assert writer.wait(120) == 0
    while not any(number >= 1000 for number, _, _ in standing(log)):
        assert killed.poll() is None
    killed.kill()
    killed.wait(60)
    before = standing(log)
    assert sorted(number for number, _, _ in before if number < 1000) == list(range(40))
    many = [number for number, _, _ in before if number >= 1000]
    assert many == list(range(1000, 1000 + len(many)))
    decide(log, 10**7)
    assert standing(log) == [*before, (10**7, KEEP, -1)], "no lock is left"


@pytest.mark.parametrize("kept", [1, 20, -1])
def test_a_line_that_was_cut_short_hurts_no_other(log: DecisionLog, kept: int) -> None:
    decide(log, 1)
    cut = serialize_decision(LabelDecision(REMOVE, 2, "image 2", 3))[:kept]
    with log.path.open("ab") as file:
        file.write(cut)
    decide(log, 3)
    assert [one for one in standing(log) if one[0] != 2] == [(1, KEEP, -1), (3, KEEP, -1)]
    log.undo_last_decision()
    assert (3, KEEP, -1) not in standing(log)


@pytest.mark.parametrize(
    "line",
    [
        b"[]",
        b'{"decision": "burn", "number": 1}',
        b'{"decision": "keep", "number": -1}',
        b'{"decision": "keep", "number": 1e99}',
        b'{"decision": "undo", "undoes": "nothing"}',
        b"\xff\xfe",
        b"null",
        b"NaN",
    ],
)
def test_lines_that_are_none_are_passed_over(log: DecisionLog, line: bytes) -> None:
    decide(log, 1)
    with log.path.open("ab") as file:
        file.write(line + b"\n")
    assert standing(log) == [(1, KEEP, -1)]


def test_a_viewer_decides_nothing_and_nobody_undoes_anothers(log: DecisionLog) -> None:
    people = {
        "ada": Person("ada@example.org", Role.MEMBER),
        "bob": Person("bob@example.org", Role.MEMBER),
        "eve": Person("eve@example.org", Role.VIEWER),
    }
    who = ["ada"]
    set_person_source(lambda: people[who[0]])
    try:
        decide(log, 1)
        who[0] = "bob"
        assert log.undo_last_decision() is None
        decide(log, 2)
        who[0] = "eve"
        with pytest.raises(AccessError, match="ask an admin"):
            decide(log, 3)
        with pytest.raises(AccessError):
            log.undo_last_decision()
        who[0] = "ada"
        assert log.can_undo()
        log.undo_last_decision()
        assert [each.person for each in log.list_standing_decisions()] == ["bob@example.org"]
    finally:
        set_person_source(None)


def test_what_cannot_be_written_says_so_and_keeps_the_rest(log: DecisionLog, monkeypatch: pytest.MonkeyPatch) -> None:
    decide(log, 1)

    def refuse(path: Path) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(decision_log, "open_plain_append", refuse)
        with pytest.raises(StorageError, match="earlier decisions are kept"):
            decide(log, 2)
    assert standing(log) == [(1, KEEP, -1)]
    log.path.unlink()
    log.path.mkdir()
    with pytest.raises(StorageError, match="cannot be read"):
        log.list_standing_decisions()
    assert not log.can_undo()


def test_datasets_with_the_same_labels_keep_their_decisions_apart() -> None:
    labels = np.array([0, 1, 2, 1], np.int32)
    images = np.arange(4 * 4, dtype=np.uint8).reshape(4, 2, 2, 1)
    log = decision_log.open_decision_log("test", labels, 3)
    checksum = decision_log.checksum_image(images, 1)
    log.append_decision(LabelDecision(REMOVE, 1, checksum, 1))
    assert len(decision_log.list_matching_decisions("test", images, labels, 3)) == 1
    assert not decision_log.list_matching_decisions("test", images + 1, labels, 3)
    assert not decision_log.list_matching_decisions("train", images, labels, 3)
    assert not decision_log.list_matching_decisions("test", images, labels, 4)
