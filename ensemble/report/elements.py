"""Sections to HTML: every text from outside is escaped here, and nowhere else."""

import html
import re
from collections.abc import Sequence
from string import Template
from typing import Any

from ensemble.report import page_assets
from ensemble.report.figure_spec import FigureSpec, build_figure_spec
from ensemble.views.parts import CopyableText, Figure, Figures, Listing, Paragraph, Part, Section, Table, Tile, Tiles
from ensemble.wording.escaping import BOLD, ESCAPED, HIDDEN, JOINER, remove_invisible_characters

SHEET_TITLE = "Try it"
# The styles of paragraphs by their roles; those that are not here do not stand on paper.
_PARAGRAPH_STYLES = {
    "answer": "answer",
    "evidence": "evidence",
    "finding": "text",
    "note": "note",
    "text": "text",
    "gloss": "text",
    "help": "note",
    "scope": "text",
    "warning": "text",
    "reminder": "note",
    "unavailable": "text",
}


class PageElements:
    """The elements of a page as they come, and the figures that stand in it."""

    def __init__(self) -> None:
        self.figures: list[FigureSpec] = []
        self.headings: list[tuple[str, str]] = []

    def render_section(self, section: Section) -> str:
        """A section with its heading; the contents' list knows it by its number."""
        name = f"s{len(self.headings)}"
        self.headings.append((name, section.title))
        tag, parts = (f"h{section.level}", "\n".join(filter(None, map(self.render_part, section.parts))))
        breaks = ' class="breaks"' if section.page_break else ""
        return (
            f'<section id="{name}"{breaks} aria-labelledby="{name}h">'
            f'<{tag} id="{name}h">{escape_html_text(section.title)}</{tag}>\n{parts}\n</section>'
        )

    def render_sheet(self, lead: str) -> str:
        name = f"s{len(self.headings)}"
        self.headings.append((name, SHEET_TITLE))
        return Template(page_assets.read_static_file("classify.html")).substitute(
            name=name,
            title=SHEET_TITLE,
            lead=escape_html_text(lead),
            answer=page_assets.read_static_file("answer.html"),
        )

    def render_part(self, part: Part) -> str:
        """One part of a section; "" for what is for a screen alone, as images to press."""
        match part:
            case Paragraph():
                if part.role not in _PARAGRAPH_STYLES:
                    return ""
                text = render_sentence_html(part.text) if part.markdown else escape_html_text(part.text)
                return f'<p class="{_PARAGRAPH_STYLES[part.role]}">{text}</p>'
            case Table():
                return _render_table_html(part)
            case Figures():
                return self.render_figures(part)
            case Tiles():
                return _render_tiles_html(part)
            case Listing():
                return _render_listing_html(part)
            case CopyableText():
                return (
                    f'<figure class="copied"><figcaption>{escape_html_text(part.label)}</figcaption>'
                    f'<pre tabindex="0">{escape_html_text(part.text)}</pre></figure>'
                )
        return ""

    def render_figures(self, part: Figures) -> str:
        """One figure, or several with buttons of which one is pressed; below them their notes."""
        every = part.all()
        drawn = [self.render_figure(figure, place == 0) for place, figure in enumerate(every)]
        notes = "".join(f'\n<p class="note">{escape_html_text(note())}</p>' for note in part.notes.values())
        if part.choice is None or len(every) == 1:
            return drawn[0] + notes
        buttons = "".join(
            f'<button type="button" aria-pressed="{"false" if place else "true"}">'
            f"{escape_html_text(figure.label)}</button>"
            for place, figure in enumerate(every)
        )
        label = escape_html_attribute(part.choice.label)
        return (
            f'<div class="several"><div class="choice" role="group" aria-label="{label}">{buttons}'
            f"</div>{''.join(drawn)}</div>{notes}"
        )

    def render_figure(self, figure: Figure, is_visible: bool) -> str:
        number = len(self.figures)
        self.figures.append(figure_spec := build_figure_spec(figure))
        sees = render_sentence_html(figure.explanation) if figure.markdown else escape_html_text(figure.explanation)
        high = _figure_height_px(figure_spec)
        return (
            f'<figure class="drawn"{"" if is_visible else " hidden"}><figcaption>{sees}</figcaption>'
            f'<div class="plot" role="img" aria-label="{escape_html_attribute(figure.alt)}" '
            f'data-figure="{number}" style="min-height:{high}px"></div></figure>'
        )


def _figure_height_px(figure: FigureSpec) -> int:
    """The pixels that a figure needs, so that nothing moves when it is drawn."""
    return round(figure["figure"].get("layout", {}).get("height") or 450)


def escape_html_text(text: Any) -> str:
    return html.escape(remove_invisible_characters(text).replace(JOINER, ""), quote=False)


def escape_html_attribute(text: Any) -> str:
    return html.escape(" ".join(remove_invisible_characters(text).replace(JOINER, "").replace("**", "").split()))


def render_sentence_html(sentence: str) -> str:
    """A sentence in Markdown as the pages have them: bold words, and escaped signs."""
    letters: list[str] = []

    def hide_escaped_letter(match: re.Match[str]) -> str:
        letters.append(match[1])
        return f"\x00{len(letters) - 1}\x00"

    plain = ESCAPED.sub(hide_escaped_letter, remove_invisible_characters(sentence))
    bold = BOLD.sub(r"<strong>\1</strong>", html.escape(plain.replace(JOINER, ""), quote=False))
    return HIDDEN.sub(lambda match: html.escape(letters[int(match[1])], quote=False), bold)


def _render_table_html(part: Table) -> str:
    """A table with its caption; its first column names the rows."""
    frame = part.frame
    head = "".join(f'<th scope="col">{escape_html_text(name)}</th>' for name in frame.columns)
    body = "".join(_render_row_html(values) for values in frame.itertuples(index=False, name=None))
    caption = escape_html_text(part.caption)
    inner = (
        f'<div class="wide" role="region" aria-label="{escape_html_attribute(part.caption)}" tabindex="0">'
        f"<table>{'' if part.folded else f'<caption>{caption}</caption>'}"
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    ) + (f'<p class="note">{escape_html_text(part.note)}</p>' if part.note else "")
    return _render_fold_html(part.caption, inner) if part.folded else inner


def _render_row_html(values: Sequence[Any]) -> str:
    first, *rest = values
    cells = "".join(f"<td>{escape_html_text(value)}</td>" for value in rest)
    return f'<tr><th scope="row">{escape_html_text(first)}</th>{cells}</tr>'


def _render_fold_html(title: str, inner: str) -> str:
    """What stands behind a fold; on paper it is open."""
    return f"<details><summary>{escape_html_text(title)}</summary>{inner}</details>"


def _render_listing_html(part: Listing) -> str:
    rows = "".join(
        f"<div><dt>{escape_html_text(name)}</dt><dd>{escape_html_text(value)}</dd></div>" for name, value in part.rows
    )
    inner = f"<dl>{rows}</dl>"
    return _render_fold_html(part.fold, inner) if part.fold else inner


def _render_tiles_html(part: Tiles) -> str:
    each = "".join(_render_tile_html(place, tile) for place, tile in enumerate(part.tiles))
    size = f"--w:{part.width}px;--h:{part.height}px;--n:{len(part.tiles)}"
    strip = f"--strip:url('{part.strip}')"  # base64, which has no quotes
    return f'<ul class="tiles" style="{escape_html_attribute(f"{size};{strip}")}">{each}</ul>'


def _render_tile_html(place: int, tile: Tile) -> str:
    how = "right" if tile.right else "wrong"
    votes = "".join(f"<span>{escape_html_text(line)}</span>" for line in tile.votes)
    return (
        f'<li><div class="image" role="img" aria-label="{escape_html_attribute(tile.alt)}" '
        f'style="--at:{place}"></div>'
        f'<strong class="{how}">{escape_html_text(tile.verdict)}</strong>{votes}</li>'
    )
