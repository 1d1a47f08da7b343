"""Learning curves of one run: members thin, the ensemble bold, test solid, training dashed."""

from typing import TYPE_CHECKING, Any

import numpy as np

from ensemble.comparison.curves import Curves, Line, curves
from ensemble.comparison.groups import Group
from ensemble.figures import lines
from ensemble.figures.comparison.curves import DASHES, LEAST, POINTS, WHOLE, rounded
from ensemble.figures.palette import MUTED, Palette
from ensemble.runs import Run
from ensemble.views.parts import Figure, Figures
from ensemble.wording import formats
from ensemble.wording.run_names import called

if TYPE_CHECKING:
    import plotly.graph_objects as go

TITLES = {"loss": "NLL", "accuracy": "Accuracy"}
AXES = {"loss": "NLL in nats", "accuracy": "accuracy"}
HEIGHT = 420


def pictures(run: Run) -> Figures | None:
    """Loss and accuracy over the epochs; None where no epoch has ended."""
    each = [found for figure in TITLES if (found := picture(run, figure))]
    return Figures.several("Figure", each) if each else None


def picture(run: Run, figure: str) -> Figure | None:
    """One figure over the epochs; None where the run has none of it."""
    group = Group(called(run), run.id, (run,))
    found = {
        (who, split): curves([group], figure=figure, split=split, who=who)[0]
        for who, split in (
            ("members", "test"),
            ("ensemble", "test"),
            ("ensemble", "validation"),
            ("ensemble", "train"),
            ("mean member", "train"),
        )
    }
    # Members that see different pixels have no ensemble on them: then their mean stands there.
    del found[("mean member" if found["ensemble", "train"].lines else "ensemble"), "train"]
    if not any(one.lines for one in found.values()):
        return None
    return Figure(
        TITLES[figure],
        f"{TITLES[figure]} over the epochs, one line a member, the ensemble bold",
        sees(run, found, figure),
        lambda palette: drawn(run, found, figure, palette),
    )


def sees(run: Run, found: dict[tuple[str, str], Curves], figure: str) -> str:
    """How to read it, and where the ensemble and the mean member end."""
    many = run.config.members > 1
    said = "Each member thin, the ensemble bold" if many else "The one member"
    dashed = [who for (who, split), one in found.items() if split == "train" and one.lines]
    said += ": on test images solid"
    if dashed:
        said += f", {f'the {dashed[0]} ' if many else ''}on training images dashed"
    if found["ensemble", "validation"].lines:
        said += ", on validation images dash-dotted"
    whole = found["ensemble", "test"].lines
    if not whole or not many:
        return f"{said}."
    return f"{said}. The ensemble ends at {value(figure, whole[0].y[-1], run)} on test images."


def value(figure: str, end: float, run: Run) -> str:
    """A figure as people read it."""
    if figure == "loss":
        return formats.significant(float(end))
    return formats.percent(float(end), run.data.test_size)


def drawn(
    run: Run, found: dict[tuple[str, str], Curves], figure: str, palette: Palette
) -> "go.Figure":
    """The picture in the colours of a page."""
    import plotly.graph_objects as go  # here, for it takes a while and only pictures need it

    M = run.config.members
    members = found["members", "test"].lines
    traces = [] if M == 1 else thin(members, figure)
    for (who, split), one in found.items():
        if who != "members" and one.lines:
            traces.append(bold(one.lines[0], who, split, figure, palette, M))
    chart = go.Figure([go.Scatter(one) for one in traces])
    title = f"{TITLES[figure]} over the epochs · {called(run)}"
    chart.update_layout(lines.layout(title, HEIGHT, palette))
    longest = max((max(trace.x, default=0.0) for trace in chart.data), default=0.0)
    chart.update_xaxes(
        title="epochs", automargin=True, **({"dtick": 1} if longest <= WHOLE else {})
    )
    suffix = {"ticksuffix": " %"} if figure == "accuracy" else {}
    chart.update_yaxes(title=AXES[figure], automargin=True, **suffix)
    return chart


def thin(members: tuple[Line, ...], figure: str) -> list[dict[str, Any]]:
    """A line a member, on the test images."""
    most = max(LEAST, min(lines.POINTS, POINTS // max(1, len(members))))
    kept = [lines.thinned(len(one.x), most) for one in members]
    return lines.lines(
        [rounded(one.x[at]) for one, at in zip(members, kept, strict=True)],
        [rounded(scaled(one.y[at], figure)) for one, at in zip(members, kept, strict=True)],
        [hovers(one, at, figure, one.who) for one, at in zip(members, kept, strict=True)],
    )


def bold(line: Line, who: str, split: str, figure: str, palette: Palette, M: int) -> dict[str, Any]:
    """The ensemble's line, or what stands for it on the training images."""
    at = lines.thinned(len(line.x))
    of = {"ensemble": "ensemble"}.get(who, who) if M > 1 else "member 1"
    style = (
        lines.bold(palette)
        if split == "test"
        else {"color": MUTED if split == "train" else palette.ink, "width": 2}
    )
    return {
        "x": rounded(line.x[at]),
        "y": rounded(scaled(line.y[at], figure)),
        "mode": "lines+markers" if len(at) == 1 else "lines",
        "line": {**style, "dash": DASHES[split]},
        "name": of if split == "test" else f"{of}, {split}",
        "hovertext": hovers(line, at, figure, f"{of}, {split}"),
        "hoverinfo": "text",
    }


def scaled(y: np.ndarray, figure: str) -> np.ndarray:
    """Accuracies in per cent."""
    return 100 * y if figure == "accuracy" else y


def hovers(line: Line, at: np.ndarray, figure: str, who: str) -> list[str]:
    """What stands under the pointer at each point."""
    percent = figure == "accuracy"
    said = [formats.percent(y) if percent else formats.significant(float(y)) for y in line.y[at]]
    return [f"{who}, epoch {x:g}: {y}" for x, y in zip(line.x[at], said, strict=True)]
