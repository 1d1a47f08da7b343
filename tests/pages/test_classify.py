"""Classify: pictures handed in, read, overruled and listed; bad ones beside good ones."""

import io
import json
import threading
from typing import Any

import numpy as np
import pytest
from PIL import Image
from streamlit.testing.v1 import AppTest

from ensemble import datasets
from ensemble.recognition import classifier
from ensemble.runs import Run
from ensemble.ui.classify.input import classifier_loader, drawing_sheet, input_methods, tab_pictures
from ensemble.ui.shared.tab import Tab
from tests.pages import hostile
from tests.pages.members import askable
from tests.pages.predictions_screen import opened, value, widget

NAME = f"{hostile.NAME}.png"
SEVEN = [[60, 60, 160, 60], [160, 60, 100, 230]]


@pytest.fixture(scope="module")
def runs_of_this_file(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """One run for all tests: what its members need is measured and compiled once."""
    folder = tmp_path_factory.mktemp("runs")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ENSEMBLE_RUNS", str(folder))
        return {"folder": folder, "run": askable(name=hostile.NAME)}


@pytest.fixture
def run(runs_of_this_file: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setenv("ENSEMBLE_RUNS", str(runs_of_this_file["folder"]))
    return runs_of_this_file["run"]


def classify(run: Any = "", **address: object) -> AppTest:
    return sound(opened(run, "classify", **{"detail": "neighbours"} | address))


def sound(at: AppTest) -> AppTest:
    """The screen, with no word of a fault on it."""
    assert not at.exception
    assert hostile.holes(at) == []
    assert not [one.value for one in at.error if "fault of the program" in one.value]
    return at


def png(pixels: Any) -> bytes:
    buffer = io.BytesIO()
    Image.fromarray(np.asarray(pixels, np.uint8)).save(buffer, "PNG")
    return buffer.getvalue()


def digit(number: int) -> Any:
    return datasets.load_dataset("digits").test_images[number, ..., 0]


def paper(*numbers: int) -> bytes:
    """Test digits as dark ink side by side on light paper."""
    across = np.hstack([np.pad(digit(n).repeat(4, 0).repeat(4, 1), 20) for n in numbers])
    return png(240 - (across // 255.0 * 0 + across * 0.8))


def hand_in(at: AppTest, *files: tuple[str, bytes]) -> AppTest:
    sent = [(name, content, "image/png") for name, content in files]
    return sound(widget(at, "file_uploader", "classify_upload").set_value(sent).run())


def sent(at: AppTest, *words: str) -> dict[str, Any]:
    """What the component was given whose data has these words."""
    every = [json.loads(one.proto.json) for one in at.get("bidi_component") if one.proto.json]
    return next(one for one in every if set(words) <= set(one))


def number(at: AppTest) -> str:
    return " / ".join("".join(one["said"] for one in line) for line in sent(at, "lines")["lines"])


def table(at: AppTest) -> Any:
    return next(one.value for one in at.dataframe if "Picture" in one.value)


def words(at: AppTest) -> str:
    return "\n".join(one.value for one in (*at.subheader, *at.markdown, *at.caption, *at.warning))


def test_without_a_run_the_next_step_is_to_train() -> None:
    at = classify()
    assert "digit of your own" in at.subheader[0].value
    assert not at.get("file_uploader")
    assert at.get("page_link")


def test_an_upload_is_read_as_the_members_of_the_epoch_read_it(run: Run) -> None:
    images = datasets.load_dataset("digits").test_images[:300]
    last, first = (classifier_loader.wait_for_classifier(run, epoch).read_images(images) for epoch in (2, 1))
    is_known = [not (one.rejected or other.rejected) for one, other in zip(last.digits, first.digits, strict=True)]
    known = is_known.index(True)
    strange = next(n for n, one in enumerate(last.digits) if one.rejected)
    at = hand_in(classify(run), ("strange.png", png(digit(strange))))
    assert at.subheader[1].value == "I would rather not say"
    at = hand_in(at, (NAME, png(digit(known))))
    assert number(at) == last.text[known]
    (box,) = sent(at, "src")["boxes"]
    assert box["place"] == [0, 0, 1, 1]
    assert NAME in hostile.literal(at)
    assert not at.get("file_uploader")[0].value, "the uploader keeps no file"
    widget(at, "select_slider", "classify_epoch").set_value(1).run()
    assert value(sound(at), "epoch") == "1"
    assert number(at) == first.text[known]


def test_words_in_the_address_that_make_no_sense_are_left_out(run: Run) -> None:
    at = classify(run, epoch=99, input="nonsense", refuse="much")
    assert "epoch 99 are not kept; epoch 2" in words(at)
    assert widget(at, "button_group", "address_input").value == "upload"


def test_the_page_can_be_used_while_the_members_are_being_opened(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn, opening = threading.Event(), classifier_loader._open_classifier_in_thread
    classifier_loader._open_classifier.clear()
    # However quickly members are opened: not before the page is drawn.
    monkeypatch.setattr(classifier_loader, "_open_classifier_in_thread", lambda *job: drawn.wait(60) and opening(*job))
    monkeypatch.setattr(classifier_loader, "OPENING_PATIENCE_S", 0.0)
    at = hand_in(classify(run), ("one.png", png(digit(0))))
    assert "Loading 2 members" in words(at)
    assert "Your pictures are read then" in words(at)
    drawn.set()
    assert classifier_loader.wait_for_classifier(run, 2).epoch == 2
    at = sound(at.run())
    assert "Loading" not in words(at)
    assert number(at)


def test_bad_files_are_a_sentence_each_and_the_others_go_on(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    real = classifier.prepare_picture

    def choking(picture: Any, *others: Any, **named: Any) -> Any:
        if picture.size == (31, 31):
            raise ZeroDivisionError
        return real(picture, *others, **named)

    monkeypatch.setattr(classifier, "prepare_picture", choking)
    whole = png(np.zeros((64, 64)))
    bad = {"no.png": b"a text", "empty.png": b"", "torn.png": whole[:60], "choked on.png": png(np.eye(31) * 255)}
    at = hand_in(classify(run), *bad.items(), ("good.png", paper(0, 1)))
    rows = table(at)
    assert rows["Picture"].tolist() == [*bad, "good.png"]
    assert all(note.endswith(".") for note in rows["Note"][:4])
    assert ["fault of the program" in note for note in rows["Note"]] == [False, False, False, True, False]
    assert len(set(rows["Note"])) == 5
    assert rows["Says"][4] not in ("–", "…")
    assert rows["Note"][0] in at.warning[0].value.replace("\\", "")
    widget(at, "button", "classify_before").click().run()
    assert len(sent(sound(at), "src")["boxes"]) == 2


def test_of_many_pictures_it_is_said_how_many_are_right_or_why_not(run: Run) -> None:
    """Members that have learnt nothing say of digits what they do not say of their predictions."""
    at = hand_in(classify(run), *((f"{n}.png", png(digit(n))) for n in range(2)))
    assert "without labels" not in words(at)
    at = hand_in(at, *((f"{n}-.png", paper(*range(4 * n, 4 * n + 4))) for n in range(12)))
    for _ in range(40):
        if "…" not in set(table(at)["Says"]):
            break
        sound(at.run())
    said = words(at)
    assert "of these 50 digits will be right, with lower trust: " in said
    assert "confident on them than on the 500 test digits (" in said


def test_as_many_pictures_as_may_be_are_kept_and_the_rest_is_said(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tab_pictures, "MAX_PICTURES", 20)
    at = classify(run)
    at.session_state["classify_files_rows"] = {}
    many = [(f"{n}.png", png(np.full((4, 4 + n), 255))) for n in range(tab_pictures.MAX_PICTURES + 5)]
    hand_in(at, *many)
    assert len(at.session_state[Tab.pictures.key]) == len(table(at)) == tab_pictures.MAX_PICTURES
    assert "the last 5 of these" in at.warning[0].value
    for _ in range(40):
        if "…" not in set(table(at)["Says"]):
            break
        sound(at.run())
    assert set(table(at)["Note"]) == {"I see no digit here."}
    widget(at, "button", "classify_clear").click().run()
    assert not sound(at).dataframe


def test_a_tab_that_has_uploaded_all_it_may_says_how_to_go_on(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = png(digit(0)), png(digit(1))
    monkeypatch.setattr(input_methods, "MAX_TAB_UPLOAD_BYTES", len(first) + len(second))
    at = hand_in(classify(run), ("a.png", first))
    assert not at.get("file_uploader")[0].disabled
    at = hand_in(at, ("b.png", second))
    assert at.get("file_uploader")[0].disabled
    assert "Reload the page" in at.warning[0].value
    assert "2 of 2" in words(at) or "1 of 2" in words(at), "what is there can be used"
    assert not classify(run).get("file_uploader")[0].disabled, "another tab"


def test_what_is_overruled_is_the_pictures_own_and_can_be_taken_back(run: Run) -> None:
    at = hand_in(classify(run), ("a.png", paper(0, 1)), ("b.png", paper(2)))
    before = number(at), len(sent(at, "src")["boxes"])
    widget(at, "slider", "classify_across").set_value((0, 50)).run()
    assert len(sent(sound(at), "src")["boxes"]) == 1
    assert sent(at, "src")["crop"] == [0, 0, 0.5, 1]
    assert set(at.query_params) == {"run", "detail"}
    widget(at, "button", "classify_after").click().run()
    assert sent(at, "src")["crop"] is None
    widget(at, "button", "classify_before").click().run()
    assert sent(at, "src")["crop"] == [0, 0, 0.5, 1]
    widget(at, "button", "classify_reset").click().run()
    assert (number(sound(at)), len(sent(at, "src")["boxes"])) == before
    widget(at, "button_group", "classify_ink").set_value("light").run()
    assert sound(at).session_state["classify_overrules"]


def test_a_test_digit_is_tried_at_a_press_and_an_old_link_opens_the_rejection_threshold(run: Run) -> None:
    at = classify(run, detail="gate")  # as an earlier version called it
    widget(at, "button", "classify_try").click().run()
    assert len(sent(sound(at), "lines")["lines"]) == 1
    assert any("It accepts **" in one.value for one in at.markdown)
    widget(at, "button", "classify_try_number").click().run()
    assert len(sent(sound(at), "src")["boxes"]) == 4


def test_a_drawing_is_read_and_outlives_another_way_in(run: Run) -> None:
    at = classify(run, input="draw")
    classifier_loader.wait_for_classifier(run, 2)
    strokes = [{"w": 18.0, "p": path} for path in SEVEN]
    drawn = {"strokes": strokes, "serial": 2, "pen": 18, "width": 300, "height": 280}
    at.session_state[Tab.drawing.key] = drawing_sheet.parse_sent_drawing(drawn)
    at.run()
    assert len(sent(sound(at), "strokes")["boxes"]) == 1
    for way in ("upload", "camera", "draw"):
        widget(at, "button_group", "address_input").set_value(way).run()
    assert sent(sound(at), "strokes")["strokes"] == strokes
    left, top, right, bottom = sent(at, "strokes")["boxes"][0]["place"]
    assert abs(np.array([left, top, right, bottom]) - [51, 51, 169, 239]).max() < 4
