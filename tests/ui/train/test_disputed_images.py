"""The images that members dispute most, and runs whose disagreement was not written down."""

from collections import Counter

import numpy as np
import pytest

from ensemble import datasets, runs
from ensemble.config import EnsembleConfig
from ensemble.runs import Run
from ensemble.runs.history import write_predictions
from ensemble.ui.predictions import predictions_view
from ensemble.ui.train import disagreement_backfill, disputed_images
from tests.analysis.draws import distributions
from tests.ui.train.test_history import epoch

ROWS = [epoch(1.0, [0.9] * 4, 0.95), epoch(2.0, [0.9] * 4, 0.95) | {"epoch": 2}]


def trained(probabilities: np.ndarray, epochs: int = 1) -> Run:
    """A run of digits whose members said this after every epoch."""
    run = runs.create_run(EnsembleConfig(members=len(probabilities), epochs=max(epochs, 1)))
    for number in range(1, epochs + 1):
        write_predictions(run.path, number, probabilities)
    return run


def test_the_most_divided_votes_come_first_and_open_on_predictions() -> None:
    drawn = distributions(4, 500, 10)
    run = trained(drawn)
    shown = disputed_images.load_disputed_images(run, ROWS[:1])
    assert shown
    assert len(shown["tiles"]) == 12
    ballots = [[text for text, _ in tile["votes"][0]] for tile in shown["tiles"]]
    every = [tuple(column) for column in drawn.argmax(-1).T]
    apart = sorted((len(set(votes)) for votes in every), reverse=True)
    assert [len(set(votes)) for votes in ballots] == apart[:12]
    for tile, votes in zip(shown["tiles"], ballots, strict=True):
        words = dict(pair.split("=") for pair in tile["href"].partition("?")[2].split("&"))
        view = predictions_view.parse_predictions_view(words)
        assert (words["run"], view.epoch, view.show, view.order) == (run.id, 1, "split", "split")
        assert view.digit is not None
        assert [int(vote) for vote in votes] == list(every[view.digit])
        averaged = drawn[:, view.digit].astype(float).mean(0).argmax()
        assert tile["right"] == (averaged == datasets.load_dataset("digits").test_labels[view.digit])


def test_many_members_votes_are_counted_under_each_image() -> None:
    drawn = distributions(16, 500, 10)
    shown = disputed_images.load_disputed_images(trained(drawn), ROWS[:1])
    assert shown
    assert shown["lines"] == 3
    first = shown["tiles"][0]
    number = int(first["pressed"].split()[1])
    most = Counter(drawn[:, number].argmax(-1).tolist()).most_common(1)[0][1]
    assert first["votes"][0][0][0].startswith(f"{most} say")


@pytest.mark.parametrize(
    ("members", "rows", "epochs", "said"),
    [
        (1, 1, 1, None),
        (4, 0, 0, "Disputed digits appear here after the first epoch."),
        (4, 1, 1, "After epoch 1 the members agree about every test digit."),
        (4, 1, 0, "The members' answers after epoch 1 is not kept."),
    ],
)
def test_where_there_is_nothing_to_show_a_sentence_stands(
    members: int, rows: int, epochs: int, said: str | None
) -> None:
    run = trained(distributions(1, 500, 10).repeat(members, axis=0), epochs)
    shown = disputed_images.load_disputed_images(run, ROWS[:rows])
    assert (shown and shown["note"]) == said


def test_damaged_predictions_are_a_sentence_and_no_bug() -> None:
    run = trained(distributions(4, 500, 10))
    (run.path / "predictions" / "epoch-0001.npz").write_bytes(b"torn")
    shown = disputed_images.load_disputed_images(run, ROWS[:1])
    assert shown
    assert "epoch 1" in shown["note"]
    assert disagreement_backfill.fill_missing_disagreement(run, ROWS[:1]) == ROWS[:1]


def test_what_an_earlier_version_left_out_is_computed_from_its_predictions() -> None:
    drawn = distributions(4, 500, 10)
    run, before = trained(drawn, epochs=2), [dict(row) for row in ROWS]
    found = disagreement_backfill.fill_missing_disagreement(run, ROWS)
    voted = drawn.argmax(-1)
    said = drawn.astype(float).mean(0).argmax(-1)
    for row in found:
        assert row["member_disagreement"] == pytest.approx([*(voted != said).mean(1)])
    assert before == ROWS, "what is shared between tabs was changed"
    written = [{**ROWS[0], "disagreement": 0.25}]
    assert disagreement_backfill.fill_missing_disagreement(run, written) is written


def test_a_long_run_of_an_earlier_version_is_read_at_a_few_epochs() -> None:
    run = trained(distributions(4, 500, 10), epochs=0)
    rows = [ROWS[0] | {"epoch": number} for number in range(1, 501)]
    for number in (1, 2, 250, 500):
        write_predictions(run.path, number, distributions(4, 500, 10))
    has = [row["epoch"] for row in disagreement_backfill.fill_missing_disagreement(run, rows) if "disagreement" in row]
    assert has[0] == 1
    assert has[-1] == 500
    assert 2 not in has
