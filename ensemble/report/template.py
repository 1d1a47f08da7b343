"""The page around the sections: head, policy, styles, contents, and the data at its end."""

import html
import re
from collections.abc import Sequence
from string import Template

from ensemble import __version__
from ensemble.figures.palette import DARK, LIGHT, RIGHT_COLOR, WRONG_COLOR, Palette
from ensemble.report import page_assets
from ensemble.report.elements import PageElements, escape_html_attribute, escape_html_text
from ensemble.report.page_classifier import PageClassifier, describe_page_classifiers
from ensemble.report.report_content import ReportContent

PAGE_SCRIPTS = ("unpack.js", "report.js")
SHEET_SCRIPTS = ("member_answer.js", "member_worker.js", "classify.js")
_SHEET_STYLES = ("classify.css", "answer.css")
WORKER_SCRIPTS = ("networks.js", "preparation.js", "worker.js")
# An option of the command line, which no line's end is to cut in two.
_OPTION_PATTERN = re.compile(r"--[a-z]+(?:-[a-z]+)*")
# HTML that stands in the page: of one with its runs' data, and of one without.
_DATA_HINT = 'The data are inside: <a href="#inside">what this file can do</a>.'
_HOLDINGS_HINT = 'Below: <a href="#inside">what this file holds</a>.'
_IMPORT_HINT = (
    "With the program, <code>ensemble import FILE.html</code>, or Import… on its page Runs, "
    "makes a run of them again, every figure equal: to look at it with other settings, or beside runs of your own."
)
# Text in the colours of right and wrong, as dark or light as text has to be.
VERDICT_TEXT_COLORS = {"light": ("#00629B", "#A84A0B"), "dark": ("#58B4F0", "#F59A5C")}


def render_report_page(
    content: ReportContent, capsules: Sequence[str], inside: str, classifiers: Sequence[PageClassifier] = ()
) -> str:
    """The whole page.

    Args:
      capsules: elements with the runs' data, from `exchange.capsule`; they stand as they are.
        None of a run that a report holds no data of.
    """
    page = PageElements()
    sections = [page.render_section(section) for section in content.sections[:1]]
    if classifiers:
        sections.append(page.render_sheet(describe_page_classifiers(classifiers)))
    sections += map(page.render_section, content.sections[1:])
    figures = page_assets.format_strict_json(page.figures)
    library, named = page_assets.load_packed_plotly()
    script = page_assets.join_scripts(PAGE_SCRIPTS + (SHEET_SCRIPTS if classifiers else ()))
    links = "".join(f'<li><a href="#{name}">{escape_html_text(heading)}</a></li>' for name, heading in page.headings)
    policy = page_assets.build_content_policy(page_assets.compute_script_hash(script), named, workers=bool(classifiers))
    return Template(page_assets.read_static_file("page.html")).substitute(
        policy=html.escape(policy),
        title=escape_html_text(content.title),
        styles=_render_page_styles(*(_SHEET_STYLES if classifiers else ())),
        state=f'<span class="state">{escape_html_text(content.state)}</span>' if content.state else "",
        about=escape_html_text(content.subtitle),
        lead=escape_html_text(content.introduction),
        links=links,
        sections="\n".join(sections),
        data_hint=_DATA_HINT if capsules else _HOLDINGS_HINT,
        import_hint=f" {_IMPORT_HINT}" if capsules else "",
        inside=_OPTION_PATTERN.sub(r"<code>\g<0></code>", escape_html_text(inside)),
        version=escape_html_attribute(__version__),
        figures=page_assets.render_data_element("figures", page_assets.compress_to_base64(figures)),
        library=page_assets.render_data_element("library", library),
        classifiers=_render_classifier_elements(classifiers),
        script=script,
        capsules="\n".join(capsules),
    )


def render_problem_page(why: str) -> str:
    policy = html.escape(page_assets.build_content_policy("'none'"))
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>No report</title>'
        f'<meta http-equiv="Content-Security-Policy" '
        f'content="{policy}"><p>{escape_html_text(why)}</p></html>'
    )


def _render_classifier_elements(classifiers: Sequence[PageClassifier]) -> str:
    """The worker's text and what it has to know of the runs, packed; "" where none answers."""
    if not classifiers:
        return ""
    known = page_assets.format_strict_json([found.as_json() for found in classifiers])
    packed = {"classifiers": known, "worker": page_assets.join_scripts(WORKER_SCRIPTS)}
    return "\n".join(
        page_assets.render_data_element(name, page_assets.compress_to_base64(text)) for name, text in packed.items()
    )


def _render_page_styles(*more: str) -> str:
    """The page's own styles: the colours of both looks, then what is made of them."""
    light, dark = _render_palette_variables(":root", LIGHT), _render_dark_styles()
    return "\n".join([light, dark, *map(page_assets.read_static_file, ("report.css", *more))])


def _render_dark_styles() -> str:
    """When the page is dark: as the system has it, or as its reader has pressed; never on paper."""
    system = _render_palette_variables(":root:not([data-look=light])", DARK)
    pressed = _render_palette_variables(":root[data-look=dark]", DARK)
    return f"@media screen and (prefers-color-scheme:dark){{{system}}}\n@media screen{{{pressed}}}"


def _render_palette_variables(where: str, look: Palette) -> str:
    right, wrong = VERDICT_TEXT_COLORS[look.mode]
    named = {
        "ink": look.ink,
        "ground": look.ground,
        "panel": look.panel,
        "border": look.border,
        "primary": look.primary,
        "right": right,
        "wrong": wrong,
        "blue": RIGHT_COLOR,
        "orange": WRONG_COLOR,
    }
    values = ";".join(f"--{name}:{value}" for name, value in named.items())
    return f"{where}{{{values};color-scheme:{look.mode}}}"
