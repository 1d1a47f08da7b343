"""The page around the sections: head, policy, styles, contents, and the data at its end."""

import html
import re
from collections.abc import Sequence
from string import Template

from ensemble import __version__
from ensemble.figures.palette import DARK, LIGHT, RIGHT, WRONG, Palette
from ensemble.report import embedding
from ensemble.report.contents import Content
from ensemble.report.elements import Page, attribute, text

# An option of the command line, which no line's end is to cut in two.
OPTION = re.compile(r"--[a-z]+(?:-[a-z]+)*")
# Text in the colours of right and wrong, as dark or light as text has to be.
SHADES = {"light": ("#00629B", "#A84A0B"), "dark": ("#58B4F0", "#F59A5C")}


def document(content: Content, capsules: Sequence[str], inside: str) -> str:
    """The whole page.

    Args:
      content: what it says.
      capsules: elements with the runs' data, from `exchange.capsule`; they stand as they are.
      inside: a sentence on what they hold.
    """
    page = Page()
    sections = "\n".join(map(page.section, content.sections))
    figures = embedding.as_json(page.figures)
    library, named = embedding.plotly()
    script = embedding.own("report.js")
    links = "".join(f'<li><a href="#{name}">{text(said)}</a></li>' for name, said in page.headings)
    policy = embedding.policy(embedding.digest(script), named)
    return Template(embedding.own("page.html")).substitute(
        policy=html.escape(policy),
        title=text(content.title),
        styles=styles(),
        state=f'<span class="state">{text(content.state)}</span>' if content.state else "",
        about=text(content.about),
        lead=text(content.lead),
        links=links,
        sections=sections,
        inside=OPTION.sub(r"<code>\g<0></code>", text(inside)),
        version=attribute(__version__),
        figures=embedding.data("figures", embedding.packed(figures)),
        library=embedding.data("library", library),
        script=script,
        capsules="\n".join(capsules),
    )


def problem(why: str) -> str:
    """A page with the sentence why there is no report."""
    policy = html.escape(embedding.policy("'none'"))
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>No report</title>'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}"><p>{text(why)}</p></html>'
    )


def styles() -> str:
    """The page's own styles: the colours of both looks, then what is made of them."""
    return f"{colors(':root', LIGHT)}\n{dark()}\n{embedding.own('report.css')}"


def dark() -> str:
    """When the page is dark: as the system has it, or as its reader has pressed; never on paper."""
    system = colors(":root:not([data-look=light])", DARK)
    pressed = colors(":root[data-look=dark]", DARK)
    return f"@media screen and (prefers-color-scheme:dark){{{system}}}\n@media screen{{{pressed}}}"


def colors(where: str, look: Palette) -> str:
    """A palette as the page's variables."""
    right, wrong = SHADES[look.mode]
    named = {
        "ink": look.ink,
        "ground": look.ground,
        "panel": look.panel,
        "border": look.border,
        "primary": look.primary,
        "right": right,
        "wrong": wrong,
        "blue": RIGHT,
        "orange": WRONG,
    }
    values = ";".join(f"--{name}:{value}" for name, value in named.items())
    return f"{where}{{{values};color-scheme:{look.mode}}}"
