"""Loss and accuracy over the epochs, as a report draws them."""

from ensemble.figures.palette import LIGHT
from ensemble.report.learning_curves import build_learning_figures
from tests.comparison.drawn import finished


def test_accuracy_is_in_percent_and_loss_in_nats() -> None:
    figures = build_learning_figures(finished(epochs=3))
    assert figures
    loss, accuracy = (figure.draw(LIGHT) for figure in figures.all())
    assert (loss.layout.yaxis.title.text, loss.layout.yaxis.ticksuffix) == ("NLL in nats", None)
    assert (accuracy.layout.yaxis.title.text, accuracy.layout.yaxis.ticksuffix) == ("accuracy", " %")
    assert all(0 <= value <= 100 for trace in accuracy.data for value in trace.y)
    assert max(accuracy.data[-1].y) > 2
