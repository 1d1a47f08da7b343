"""A few facts as a notebook shows them: a small table in HTML, in Markdown, or lines of text.

Names and messages come from outside: every cell is escaped, so that it shows letter by letter.
"""

import html
from collections.abc import Sequence

from ensemble.wording import escaping

Facts = Sequence[tuple[str, str]]  # what it is, and what it says


def render_facts_html(title: str, facts: Facts) -> str:
    """A table of two columns under its title."""
    rows = "".join(
        f'<tr><th style="text-align:left">{_escape_html_cell(name)}</th>'
        f'<td style="text-align:left">{_escape_html_cell(value)}</td></tr>'
        for name, value in facts
    )
    caption = f'<caption style="text-align:left"><b>{_escape_html_cell(title)}</b></caption>'
    return f"<table>{caption}{rows}</table>"


def render_facts_markdown(title: str, facts: Facts) -> str:
    """The same for notebooks that show Markdown."""
    rows = [f"| {_escape_markdown_cell(name)} | {_escape_markdown_cell(value)} |" for name, value in facts]
    return "\n".join([f"**{_escape_markdown_cell(title)}**", "", "| | |", "| --- | --- |", *rows])


def _escape_html_cell(text: str) -> str:
    # A notebook may read $…$ as a formula wherever it stands.
    return html.escape(text).replace("$", "&#36;")


def _escape_markdown_cell(text: str) -> str:
    return escaping.escape_markdown(text)
