"""What the screen Classify says of one mark: views drawn by themselves, on untrained members."""

import io
import re
import zipfile
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from ensemble import runs
from ensemble.config import EnsembleConfig
from ensemble.pictures import corrections
from ensemble.runs.parameters import write_parameters
from ensemble.ui.classify.answer import verdict
from ensemble.ui.classify.details import answer_comparison, saliency
from ensemble.ui.classify.input import classifier_loader
from ensemble.ui.shared import loaders
from tests.pages import hostile, marks
from tests.pages.ensembles import trained
from tests.pages.marks import IMAGE, shown
from tests.pages.members import askable
from tests.pages.predictions_screen import value, widget
from tests.pages.stressed import figure, said, values
from tests.ui.marks import voting


def corrected(run_id: str, rejected: bool) -> None:
    from ensemble import runs
    from ensemble.ui.classify.details import corrections as details_corrections
    from tests.pages.marks import shown
    from tests.ui.marks import voting

    details_corrections.show_corrections(shown(runs.find_run(run_id), voting(7, 7, 1, rejected=rejected)))


def compared(run_id: str) -> None:
    from ensemble import runs
    from ensemble.ui.classify.details import answer_comparison
    from ensemble.ui.classify.input import classifier_loader
    from tests.pages.marks import shown

    run = runs.find_run(run_id)
    answer_comparison.show_answer_comparison(shown(run, classifier=classifier_loader.wait_for_classifier(run, 1)))


def told(run_id: str) -> None:
    from ensemble import runs
    from ensemble.figures.two_ensembles import EnsembleAnswer
    from ensemble.ui.classify.answer import verdict
    from ensemble.ui.classify.details import answer_comparison, saliency
    from tests.pages.marks import shown
    from tests.ui.marks import covered, voting

    for digit in (voting(7, 7, 1), voting(7, 7, 1, rejected=True), voting(*range(10), 3)):
        mark = shown(runs.find_run(run_id), digit)
        verdict.show_mark_verdict(mark)
    verdict.show_verdict_chart(mark)
    sides = [EnsembleAnswer(voting(7, 1, 1, rejected=one), mark.run.name) for one in (False, True)]
    for one, other in ((0, 0), (0, 1), (1, 1)):
        answer_comparison.st.markdown(
            answer_comparison.describe_answer_comparison(sides[one], sides[other], mark.names)
        )
    saliency.compute_mark_occlusion = lambda mark: covered((3, 7), (5, 1), *(None,) * 9)
    saliency.show_saliency_maps(mark)


def opened(screen: object, *args: object, **address: str) -> AppTest:
    loaders.forget_runs()  # those of an earlier test
    at = AppTest.from_function(screen, args=args, default_timeout=240)
    for name, word in address.items():
        at.query_params[name] = word
    return at.run()


def test_nothing_is_kept_unless_a_folder_was_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ENSEMBLE_CORRECTIONS", raising=False)
    at = opened(corrected, trained().id, False)
    assert said(at) == "Corrections are not kept."
    assert "ENSEMBLE_CORRECTIONS" in at.caption[0].help
    assert not at.get("button_group")


@pytest.mark.parametrize(
    ("rejected", "told", "as_seven"),
    [(False, "7", "Kept as a 7; the ensemble is right."), (True, "?", "Kept as a 7; the ensemble rejected it.")],
)
def test_a_correction_is_kept_changed_and_taken_back(
    rejected: bool, told: str, as_seven: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ENSEMBLE_CORRECTIONS", str(tmp_path / "kept"))
    run = trained()
    at = opened(corrected, run.id, rejected)
    assert not at.caption
    assert not at.get("download_button")
    widget(at, "button_group", "classify_correction").set_value(8).run()
    (one,) = corrections.iterate_corrections()
    assert (one.label, one.prediction, one.run_id, one.epoch) == (8, told, run.id, "2")
    np.testing.assert_array_equal(one.image, IMAGE)
    assert said(at).startswith("Kept as an 8; the ensemble ")
    assert at.get("download_button")[0].proto.label == "1 correction (ZIP)"
    with zipfile.ZipFile(io.BytesIO(corrections.export_corrections())) as archive:
        assert np.load(io.BytesIO(archive.read("images.npz")))["labels"].tolist() == [8]
    widget(at, "button_group", "classify_correction").set_value(7).run()
    assert [one.label for one in corrections.iterate_corrections()] == [7]  # one word a mark
    assert said(at) == as_seven
    widget(at, "button", "classify_correction_undo").click().run()
    assert corrections.count_corrections() == 0
    assert not at.caption


def test_a_correction_that_cannot_be_kept_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("a file where a folder has to be")
    monkeypatch.setenv("ENSEMBLE_CORRECTIONS", str(tmp_path / "file"))
    at = opened(corrected, trained().id, False)
    widget(at, "button_group", "classify_correction").set_value(8).run()
    assert "could not be saved" in at.error[0].value
    assert not at.caption


def test_a_deleted_run_to_compare_with_gives_way_to_another_and_at_last_to_nobody() -> None:
    run, gone, left = (askable(name=name, members=2, epochs=1) for name in ("this", "gone", "left"))
    runs.delete_run(gone.id)
    at = opened(compared, run.id, **{"with": gone.id})
    assert not at.error
    assert "That run no longer exists" in said(at)
    assert value(at, "with") == left.id
    chart = figure(at, "classify_compare")
    # Untrained members of one seed: both runs say the same of the mark.
    assert [one["name"] for one in chart["data"]] == ["this, epoch 1", "left, epoch 1"]
    ours, theirs = (values(one["x"]) for one in chart["data"])
    reading = classifier_loader.wait_for_classifier(run, 1).read_images(IMAGE[None])
    np.testing.assert_allclose(ours, reading.digits[0].probabilities, atol=1e-6)
    np.testing.assert_array_equal(ours, theirs)
    runs.delete_run(left.id)
    loaders.forget_runs()
    at.run()
    assert "No other run has members that know the same digits" in said(at)
    assert not at.get("plotly_chart")


def test_a_run_is_compared_with_others_of_its_classes_and_with_its_own_other_epochs() -> None:
    run, other = (askable(name=name, members=2, epochs=3) for name in ("this", "other"))
    characters = runs.create_run(EnsembleConfig(dataset="kmnist", members=2))
    write_parameters(characters.path, 1, {"bias": np.ones(2)}, best=1)
    loaders.forget_runs()
    found = answer_comparison.find_comparable_classifiers(shown(run, voting(7, 7)))  # read at epoch 2
    assert {name: epochs for name, (_, epochs) in found.items()} == {run.id: [1, 3], other.id: [1, 2, 3]}
    assert next(iter(found)) == run.id


def test_runs_that_are_called_the_same_are_told_apart() -> None:
    one, same, other = (trained(name=name) for name in ("digits", "digits", "other"))
    assert len({one.id, same.id, other.id}) == 3
    assert answer_comparison.distinguish_run_name(one, other) == "digits"
    assert answer_comparison.distinguish_run_name(one, same) == f"digits · {one.id}"
    assert answer_comparison.distinguish_run_name(one, one) == "digits"


def test_whoever_votes_against_the_ensemble_stands_out() -> None:
    run = trained()
    strip = verdict.render_vote_strip(shown(run, voting(7, 7, 1)))
    votes = re.findall(r"<span.*?</span>", strip)
    assert [re.findall(r"Member \d says \d", vote) for vote in votes] == [
        ["Member 1 says 7"],
        ["Member 2 says 7"],
        ["Member 3 says 1"],
    ]
    assert ["underline" in vote for vote in votes] == [False, False, True]
    assert "opacity" not in strip
    assert "opacity" in verdict.render_vote_strip(shown(run, voting(7, 7, 1, rejected=True)))
    assert verdict.render_vote_strip(shown(run, voting(7))) == ""


def test_names_of_classes_stay_text_in_all_that_is_said_of_a_mark(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(marks, "NAMES", tuple(f"{hostile.WORDS} {c}" for c in range(10)))
    monkeypatch.setattr(
        saliency, "compute_mark_occlusion", saliency.compute_mark_occlusion
    )  # `told` puts another there
    monkeypatch.setenv("ENSEMBLE_CORRECTIONS", str(tmp_path / "kept"))
    run = trained(name=hostile.NAME)
    for screen, rest in ((told, ()), (corrected, (False,))):
        at = opened(screen, run.id, *rest)
        assert not at.exception
        assert hostile.holes(at) == []
        assert hostile.WORDS in hostile.literal(at)
