"""A view without a screen: its answer, evidence and tables, as text and ready for JSON."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ensemble.views.evaluated_epoch import EvaluatedEpoch
from ensemble.views.iteration import DefaultChooser, check_known_choices, iterate_parts
from ensemble.views.numeric.evaluated_numbers import EvaluatedNumbers
from ensemble.views.parts import Choice, CopyableText, Figure, Figures, Images, Paragraph, Table, Tiles
from ensemble.views.registry import RegisteredView
from ensemble.wording.escaping import strip_markdown
from ensemble.wording.formats import pluralize_noun

if TYPE_CHECKING:
    import pandas as pd

MOST_ROWS = 1_000  # of a figure's numbers in JSON; of every test image there may be 10,000
_MAX_LISTED_IMAGES = 20  # numbers of images in a line of text


@dataclass(frozen=True, eq=False)
class ViewSummary:
    """What a view says of an epoch, with its choices answered.

    Attributes:
      view: which view.
      epoch: what it is of.
      choices: what was asked, by name.
      answers: the words that it was answered with, by the names of the choices.
      paragraphs: its sentences in their order, without those on what can be pressed.
      tables: its tables.
      figures: its figures; of those to choose from the chosen one.
      images: lists of test images that it came to.
    """

    view: RegisteredView
    epoch: EvaluatedEpoch | EvaluatedNumbers
    choices: Mapping[str, Choice] = field(default_factory=dict)
    answers: Mapping[str, str] = field(default_factory=dict)
    paragraphs: Sequence[Paragraph] = ()
    tables: Sequence[Table] = ()
    figures: Sequence[Figure] = ()
    images: Sequence[Images] = ()

    @property
    def answer(self) -> str:
        """Its answer in a sentence: where it has none of its own, what its first figure shows."""
        for role in ("answer", "finding", "unavailable"):
            for paragraph in self.paragraphs:
                if paragraph.role == role:
                    return render_plain_text(paragraph)
        if self.figures:
            first = self.figures[0]
            return (strip_markdown(first.explanation) if first.markdown else first.explanation).strip()
        return render_plain_text(self.paragraphs[0]) if self.paragraphs else ""

    @property
    def evidence(self) -> list[str]:
        """What carries the answer: figures, intervals, p-values, and on which images."""
        return [render_plain_text(paragraph) for paragraph in self.paragraphs if paragraph.role == "evidence"]

    @property
    def available(self) -> bool:
        return all(paragraph.role != "unavailable" for paragraph in self.paragraphs)

    def to_dict(self) -> dict[str, Any]:
        """All of it, ready for JSON; docs/command-line.md says what each name is."""
        return {
            **self.to_answer(),
            "choices": {
                name: {"value": self.answers[name], "values": list(choice.values)}
                for name, choice in self.choices.items()
            },
            "paragraphs": [
                {"role": paragraph.role, "text": render_plain_text(paragraph)} for paragraph in self.paragraphs
            ],
            "tables": [
                {"caption": table.caption, "note": table.note, **build_table_record(table.frame)}
                for table in self.tables
            ],
            "figures": [_build_figure_record(figure) for figure in self.figures],
            "images": [
                {
                    "caption": _render_image_caption(image),
                    "numbers": image.numbers.tolist(),
                    "of": image.others.subject if image.others else f"test {self.epoch.noun}",
                }
                for image in self.images
            ],
        }

    def to_answer(self) -> dict[str, Any]:
        return {
            "view": self.view.name,
            "title": self.view.title,
            "available": self.available,
            "answer": self.answer,
            "evidence": self.evidence,
        }

    def to_text(self) -> str:
        return "\n".join(self.iterate_lines())

    def iterate_lines(self) -> Iterator[str]:
        """The lines of `to_text`."""
        yield self.answer
        for paragraph in self.paragraphs:
            text = render_plain_text(paragraph)
            if text != self.answer:
                yield f"  {text}" if paragraph.role in ("evidence", "note") else text
        for figure in self.figures:
            sees = strip_markdown(figure.explanation) if figure.markdown else figure.explanation
            if sees != self.answer:
                yield f"{figure.title}: {sees}"
        for table in self.tables:
            yield ""
            yield table.caption
            yield table.frame.to_string(index=False)
            if table.note:
                yield f"  {table.note}"
        for images in self.images:
            yield ""
            yield format_image_numbers(images, self.epoch.noun)


def summarize_view(
    view: RegisteredView, epoch: EvaluatedEpoch | EvaluatedNumbers, answers: Mapping[str, str] | None = None
) -> ViewSummary:
    """What a view says of an epoch.

    Args:
      answers: words for some of its choices, by their names; the others are at their defaults.

    Raises:
      ConfigError: there is no such choice, or it has no such word; the message names those there
        are.
    """
    chooser = DefaultChooser(answers)
    parts = list(iterate_parts(view.build(epoch), chooser, every=False))
    check_known_choices(chooser)
    left_out = ("hint", "help", "heading")
    return ViewSummary(
        view=view,
        epoch=epoch,
        choices=chooser.choices,
        answers=chooser.answers,
        paragraphs=[paragraph for paragraph in _iterate_paragraphs(parts) if paragraph.role not in left_out],
        tables=[part for part in parts if isinstance(part, Table)],
        figures=[figure for part in parts if isinstance(part, Figures) for figure in part.all()],
        images=[part for part in parts if isinstance(part, Images)],
    )


def _iterate_paragraphs(parts: Sequence[Any]) -> Iterator[Paragraph]:
    for part in parts:
        match part:
            case Paragraph():
                yield part
            case Figures():
                yield from (Paragraph(note(), "note") for note in part.notes.values())
            case CopyableText():
                yield Paragraph(part.text)
            case Tiles():
                yield from (Paragraph(tile.alt) for tile in part.tiles)


def render_plain_text(paragraph: Paragraph) -> str:
    return strip_markdown(paragraph.text) if paragraph.markdown else paragraph.text


def _render_image_caption(images: Images) -> str:
    return strip_markdown(images.caption) if images.markdown else images.caption


def format_image_numbers(images: Images, noun: str) -> str:
    numbers = [int(number) for number in images.numbers[:_MAX_LISTED_IMAGES]]
    if not numbers:
        return images.empty
    more = len(images.numbers) - len(numbers)
    listed = ", ".join(f"{number:,}" for number in numbers)
    rest = f" and {more:,} more" if more else ""
    subject = images.others.subject if images.others else f"test {noun}"
    what = f"{subject[:1].upper()}{pluralize_noun(subject)[1:]}: {listed}{rest}."
    return f"{_render_image_caption(images)} {what}".strip()


def _build_figure_record(figure: Figure) -> dict[str, Any]:
    """A figure's words and numbers, ready for JSON; no numbers where there are too many."""
    data = figure.table()
    return {
        "name": figure.file,
        "label": figure.label,
        "title": figure.title,
        "sees": strip_markdown(figure.explanation) if figure.markdown else figure.explanation,
        "alt": figure.alt,
        "data": build_table_record(data) if 0 < len(data) <= MOST_ROWS else None,
    }


def build_table_record(frame: "pd.DataFrame") -> dict[str, Any]:
    """A table's columns and rows, ready for JSON; what is no finite number is null."""
    rows = frame.astype(object).to_numpy()
    return {
        "columns": [str(name) for name in frame.columns],
        "rows": [[_convert_json_value(cell) for cell in row] for row in rows],
    }


def _convert_json_value(cell: Any) -> Any:
    if isinstance(cell, np.generic):
        cell = cell.item()
    if isinstance(cell, float) and not np.isfinite(cell):
        return None
    if cell is None or isinstance(cell, (bool, int, float, str)):
        return cell
    return str(cell)
