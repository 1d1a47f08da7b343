import numpy as np
import pytest

from ensemble.datasets.registry import DIGIT_NAMES
from ensemble.figures import mark_probabilities as verdict_figure
from ensemble.figures import ood_scores as rejection_figure
from ensemble.figures import two_ensembles as two_answers_figure
from ensemble.figures.palette import MEMBER_HUES, WRONG_COLOR, Palette
from ensemble.figures.two_ensembles import EnsembleAnswer
from ensemble.recognition.picture_reading import Digit
from tests.analysis.draws import distributions
from tests.ui.marks import THRESHOLD, voting


def test_the_bars_are_the_average_in_ink_and_the_dots_each_members_own(palette: Palette) -> None:
    digit = voting(7, 7, 1)
    bar, *dots = verdict_figure.plot_mark_probabilities(digit, DIGIT_NAMES, "<b>1</b>.png · run", palette).data
    np.testing.assert_allclose(bar.x, digit.members.mean(axis=0))
    assert bar.marker.color == palette.ink
    assert bar.marker.opacity.index(1.0) == 7
    assert [dot.marker.color for dot in dots] == list(MEMBER_HUES[:3])
    for dot, own in zip(dots, digit.members, strict=True):
        np.testing.assert_allclose(dot.x, own)


def test_a_name_like_markup_stays_text_in_a_picture(palette: Palette) -> None:
    chart = verdict_figure.plot_mark_probabilities(voting(7), DIGIT_NAMES, "<b>1</b>.png · <a href=x>", palette)
    assert chart.layout.title.text == "&lt;b&gt;1&lt;/b&gt;.png"
    assert chart.layout.title.subtitle.text == "&lt;a href=x&gt;"
    sides = EnsembleAnswer(voting(7), "<i>one</i>"), EnsembleAnswer(voting(7), "two")
    ours, _ = two_answers_figure.plot_two_ensembles(*sides, DIGIT_NAMES, "Mark", palette).data
    assert ours.name == "&lt;i&gt;one&lt;/i&gt;"
    assert "<i>" not in "".join(ours.hovertext)


@pytest.mark.parametrize(("members", "dots", "hues"), [(1, 0, 0), (7, 7, 7), (64, 64, 1)])
def test_dots_fit_the_number_of_members(members: int, dots: int, hues: int, palette: Palette) -> None:
    chart = verdict_figure.plot_mark_probabilities(voting(*[7] * members), DIGIT_NAMES, "Mark", palette)
    drawn = [trace for trace in chart.data if trace.type == "scatter"]
    assert len(drawn) == dots
    assert len({trace.marker.color for trace in drawn}) == hues


def test_a_rejected_verdict_is_dimmed_and_no_class_stands_out(palette: Palette) -> None:
    chart = verdict_figure.plot_mark_probabilities(voting(3, 3, rejected=True), DIGIT_NAMES, "Mark", palette)
    assert set(chart.data[0].marker.opacity) == {verdict_figure.REJECTED_OPACITY}
    assert not any("<b>" in text for text in chart.layout.yaxis.ticktext)
    read = verdict_figure.tabulate_mark_probabilities(voting(3, 8, 3, rejected=True), DIGIT_NAMES)
    assert read["who"].tolist() == ["ensemble", "member 1", "member 2", "member 3"]
    assert read["says"].tolist() == ["3", "3", "8", "3"]
    assert read["rejected"].all()
    assert read["p_3"].tolist() == pytest.approx([1.83 / 3, 0.91, 0.01, 0.91])


def test_the_thresholds_mistakes_are_orange(palette: Palette) -> None:
    chart = rejection_figure.plot_ood_scores(THRESHOLD, 3.3, "MNIST", "title", palette)
    known, noise, letters, mark = chart.data
    mistakes = {
        trace.name: trace.x[np.array(trace.marker.color) == WRONG_COLOR].tolist() for trace in (known, noise, letters)
    }
    assert mistakes == {"MNIST": [pytest.approx(2.1)], "Noise": [1.0], "Letters": []}
    assert np.round(noise.y).tolist() == [2] * 4  # of one row, whatever the spread
    assert mark.x == (3.3,)
    assert mark.hovertext == ("This one: 3.30, rejected",)
    assert [one.x0 for one in chart.layout.shapes] == [2.0]
    shares = [one.text for one in chart.layout.annotations if one.xref == "paper"]
    assert shares == ["20.0 %", "75.0 %", "100.0 %"]
    table = rejection_figure.tabulate_ood_scores(THRESHOLD, "MNIST", 3.3)
    assert table.groupby("images")["rejected"].sum().to_dict() == {"MNIST": 1, "Noise": 3, "Letters": 2, "this one": 1}


def test_the_dots_of_a_row_are_spread_evenly_over_a_little_more_than_half_of_it() -> None:
    heights = np.sort(rejection_figure._spread_dots(500))
    assert -0.28 <= heights[0] < -0.27
    assert 0.27 < heights[-1] <= 0.28
    assert np.diff(heights).max() < 3 * 0.56 / 500


def test_the_threshold_in_a_table() -> None:
    read = rejection_figure.tabulate_rejection_rates(THRESHOLD, "MNIST", "digit")
    assert read["rejected"].tolist() == ["6.0 %", "75.0 %", "100.0 %"]


def test_both_ensembles_stand_beside_each_other_and_the_one_that_rejects_is_faint(palette: Palette) -> None:
    sides = (EnsembleAnswer(voting(4, 4, 9), "one"), EnsembleAnswer(voting(9, 9, rejected=True), "two"))
    ours, theirs = two_answers_figure.plot_two_ensembles(*sides, DIGIT_NAMES, "Mark", palette).data
    np.testing.assert_allclose(ours.x, sides[0].digit.probabilities)
    np.testing.assert_allclose(theirs.x, sides[1].digit.probabilities)
    assert ours.marker.opacity > theirs.marker.opacity
    rows = two_answers_figure.tabulate_two_answers(*sides, DIGIT_NAMES)
    assert rows["says"].tolist() == ["4", "rejects"]
    assert rows["votes"].tolist() == ["2 say 4, 1 says 9", "2 say 9"]
    table = two_answers_figure.tabulate_two_ensembles(*sides, DIGIT_NAMES)
    assert table["run"].tolist() == ["one"] * 4 + ["two"] * 3


def test_of_many_classes_the_likeliest_have_a_row(palette: Palette) -> None:
    members = distributions(3, 1, 200)[:, 0].astype(np.float32)
    averaged = members.mean(axis=0, dtype=np.float64)
    votes, label = members.argmax(axis=-1), int(averaged.argmax())
    one = Digit(label, averaged, members, votes, 0.1, 1.0, 2.0, 0.5, False, "")
    chart = verdict_figure.plot_mark_probabilities(one, [f"class {c}" for c in range(200)], "title", palette)
    best = np.sort(np.argsort(-averaged)[: verdict_figure.MAX_CLASSES])
    np.testing.assert_allclose(chart.data[0].x, averaged[best])
    rows = [text.replace("<b>", "").replace("</b>", "").strip() for text in chart.layout.yaxis.ticktext]
    assert rows == [f"class {c}" for c in best]
    assert chart.layout.height < 1000
