"""A figure for a page that is light or dark: drawn once, and what is another colour in the dark."""

import json
from typing import Any

from ensemble.figures.palette import DARK, LIGHT, Palette
from ensemble.views.parts import Figure

FigureSpec = dict[str, Any]
_JsonChange = list[Any]  # [path, value]


def build_figure_spec(figure: Figure) -> FigureSpec:
    """The figure as Plotly's JSON, and what to change of it on a dark page.

    Returns:
      `figure`, light as on paper, and `dark`: pairs of a path into it and the value there.
    """
    light, dark = (_draw_figure_json(figure, look) for look in (LIGHT, DARK))
    return {"figure": light, "dark": diff_json_values(light, dark)}


def _draw_figure_json(figure: Figure, look: Palette) -> FigureSpec:
    drawn: FigureSpec = json.loads(figure.draw(look).to_json())
    template = drawn["layout"].get("template", {}).get("layout", {})
    for axis in ("xaxis", "yaxis"):
        template[axis] = {"automargin": True, **template.get(axis, {})}
    return drawn


def diff_json_values(before: Any, after: Any, path: tuple[str | int, ...] = ()) -> list[_JsonChange]:
    """What turns one value of JSON into another: as few and as small parts as there are."""
    if type(before) is not type(after):
        return [[list(path), after]]
    if isinstance(before, dict) and before.keys() == after.keys():
        return [change for name in before for change in diff_json_values(before[name], after[name], (*path, name))]
    if isinstance(before, list) and len(before) == len(after):
        changes = [
            change
            for at, pair in enumerate(zip(before, after, strict=True))
            for change in diff_json_values(*pair, (*path, at))
        ]
        # Of a list of colours all of it is shorter than each with its path.
        return changes if len(changes) < 8 else [[list(path), after]]
    return [] if before == after else [[list(path), after]]
