"""Members by accuracy and disagreement: which is which, and how far apart."""

import numpy as np

from ensemble.analysis.positions.diversity_plane import normalize_disagreement
from ensemble.analysis.positions.member_map import locate_members
from ensemble.figures.palette import Palette
from ensemble.views.examples.member_map import plot_diversity_plane
from ensemble.wording.member_map import Pair
from tests.analysis.positions.drawn_members import change_answers


def test_accuracy_goes_to_the_right_and_disagreement_per_mistake_up(palette: Palette) -> None:
    labels = np.arange(600) % 10
    votes = np.stack([change_answers(labels, share, seed) for seed, share in enumerate((0.1, 0.2, 0.4))])
    found = locate_members(votes[None], labels, [1])
    chart = plot_diversity_plane(found, Pair(2, 0), 10, 600, "digit", "title", palette)
    members = {trace.customdata[0][0]: trace for trace in chart.data if trace.customdata is not None}
    assert sorted(members) == [0, 1, 2]
    for member in (1, 2):
        apart = (votes[member] != votes[0]).mean()
        accuracy = (votes[member] == labels).mean()
        np.testing.assert_allclose(members[member].x, [accuracy])
        np.testing.assert_allclose(members[member].y, [apart / (1 - accuracy)])
        np.testing.assert_allclose(normalize_disagreement(np.array([apart]), np.array([accuracy])), members[member].y)
    assert chart.layout.xaxis.title.text == "accuracy"
    assert chart.layout.yaxis.title.text == "disagreement with member 1 per mistake"
