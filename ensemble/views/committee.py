"""Committee: how many members are enough, what more would bring, and what each is worth."""

from ensemble.analysis.members import committee as committees
from ensemble.analysis.members.committee import Committee, committee
from ensemble.analysis.members.enough import MARGINS, SHARE, Enough, enough
from ensemble.analysis.members.extrapolation import extrapolate
from ensemble.analysis.predictions import Predictions
from ensemble.analysis.quality.calibration_noise import ensemble_error
from ensemble.figures.inspect import committee as figures
from ensemble.figures.inspect.committee import NAMES
from ensemble.views.committee_costs import explain_costs, tabulate_costs
from ensemble.views.evaluated_epoch import EvaluatedEpoch
from ensemble.views.parts import (
    Asked,
    Choice,
    Columns,
    Figure,
    Figures,
    Paragraph,
    Row,
    Table,
    View,
)
from ensemble.wording import formats
from ensemble.wording.formats import plural
from ensemble.wording.verdicts import committee as words
from ensemble.wording.verdicts.calibration import by_chance

FIGURE = Choice("figure", "Figure", NAMES, "accuracy")
# The margins to choose from, by their words in an address; accuracy's in percentage points.
MARGIN_VALUES = {
    "accuracy": {
        word: float(word) / 100
        for word in ("0.01", "0.02", "0.05", "0.1", "0.2", "0.5", "1", "2", "5")
    },
    "nll": {
        word: float(word)
        for word in ("0.0005", "0.001", "0.002", "0.005", "0.01", "0.02", "0.05", "0.1")
    },
    "brier": {
        word: float(word)
        for word in ("0.0002", "0.0005", "0.001", "0.002", "0.005", "0.01", "0.02", "0.05")
    },
}
MARGIN_NAMES = {"accuracy": "margin", "nll": "nll_margin", "brier": "brier_margin"}
SHARES = {word: float(word) / 100 for word in ("50", "80", "90", "95", "99", "100")}


def offer_margins(figure: str) -> Choice:
    """How much worse than all members a committee may be, by a figure."""
    values = MARGIN_VALUES[figure]
    return Choice(
        MARGIN_NAMES[figure],
        "Loss that you accept",
        {word: words.loss(value, figure) for word, value in values.items()},
        next(word for word, value in values.items() if value == MARGINS[figure]),
        "How much worse than all members together a smaller committee may be.",
        "slider",
        width=260,
        key=f"committee_margin_{figure}",
    )


KEEP = Choice(
    "keep",
    "Committees that have to keep it",
    {word: formats.percent(share, figures=3) for word, share in SHARES.items()},
    next(word for word, share in SHARES.items() if share == SHARE),
    "Of all committees of a size: nobody knows beforehand which one it will be.",
    "slider",
    width=260,
    key="committee_share",
)


def build_committee(epoch: EvaluatedEpoch) -> View:
    """The verdict, the curve over the size, costs, the members' worth, the best of each size."""
    if epoch.members == 1:
        yield Paragraph(
            "One member is no committee: train two or more to see how many are enough.",
            "unavailable",
            icon=":material/group_off:",
        )
        return
    # A few seconds for 64 members.
    wait = f"Judging committees of the {epoch.members} members …"
    judged = epoch.measure(judge_committees, wait=wait)
    name = yield Asked(FIGURE)
    if name in MARGINS:
        _, margin, share = yield Row((FIGURE, offer_margins(name), KEEP))
        verdict = decide_enough(epoch, name, MARGIN_VALUES[name][margin], SHARES[share])
        yield Paragraph(words.verdict(verdict, epoch.noun), "answer")
        yield Paragraph(words.evidence(verdict, epoch.noun), "evidence")
    else:
        yield FIGURE
        yield Paragraph("How many members are enough is not judged by ECE.", "answer")
        yield Paragraph(
            f"It is no mean over {plural(epoch.noun)}, so no margin of it can be tested: choose "
            "another figure.",
            "evidence",
        )
        verdict = None
    drawn_by = (name, margin, share) if verdict else (name,)

    def plot(one: str) -> Figure:
        if one == name:
            return plot_curve(epoch, judged, one, verdict, drawn_by)
        default = offer_margins(one).default if one in MARGINS else ""
        found = decide_enough(epoch, one, MARGINS[one], SHARE) if one in MARGINS else None
        return plot_curve(epoch, judged, one, found, (one, default, KEEP.default))

    yield Figures(FIGURE, plot, {"ece": lambda: by_chance(epoch.measure(ensemble_error))})
    beyond = extrapolate(judged, name)
    costs = tabulate_costs(judged, name, beyond, epoch)
    yield Table(
        "What each further member brings and costs",
        costs,
        True,
        explain_costs(judged, beyond, name, list(costs)),
        "committee_costs",
    )
    yield Columns((1, 1), (lambda: build_worth(epoch, judged), lambda: build_best(epoch, judged)))


def plot_curve(
    epoch: EvaluatedEpoch,
    judged: Committee,
    name: str,
    verdict: Enough | None,
    drawn_from: tuple[str, ...],
) -> Figure:
    """One figure over the committee's size."""
    curve = committees.curve(judged, name)
    title = f"{NAMES[name]} over the committee's size · {epoch.source}"
    return Figure(
        label=NAMES[name],
        alt=figures.alt(curve, name, judged.n),
        sees=figures.sees(judged, curve, name),
        draw=lambda palette: figures.figure(judged, name, verdict, title, palette),
        key="committee",
        file=f"committee-{name}",
        title="The committees' figures by their size",
        table=lambda: figures.table(judged, epoch.measure(pick_best, fitted=True)),
        drawn_from=drawn_from,
    )


def build_worth(epoch: EvaluatedEpoch, judged: Committee) -> View:
    """What each member is worth: the ensemble with it and without."""
    yield Table(
        "What each member is worth",
        words.worth(judged, epoch.noun),
        True,
        words.without(judged.members),
        "committee_worth",
    )


def build_best(epoch: EvaluatedEpoch, judged: Committee) -> View:
    """The best committee of each size, by which images it was chosen."""
    yield Table(
        "The best committee of each size",
        words.best(judged, epoch.measure(pick_best, fitted=True)),
        True,
        words.best_by(epoch.fit is not None),
        "committee_best",
    )


def judge_committees(predictions: Predictions) -> Committee:
    """Every committee of the members, judged."""
    return committee(predictions.probabilities, predictions.labels)


def pick_best(predictions: Predictions, fit: Predictions | None) -> list[tuple[int, ...]]:
    """The members of the best committee of each size by NLL, on the images held out if any are.

    The same committees are looked at there as on the test images.
    """
    on = fit or predictions
    return committees.best_of_each_size(on.probabilities, on.labels)


def decide_enough(epoch: EvaluatedEpoch, figure: str, margin: float, share: float) -> Enough:
    """How many members are enough, computed once for each question."""
    judged = epoch.measure(judge_committees)

    def decide(_: Predictions, figure: str, margin: float, share: float) -> Enough:
        return enough(judged, figure, margin, share)

    return epoch.measure(decide, figure, margin, share)
