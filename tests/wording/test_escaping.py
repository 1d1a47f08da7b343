"""Escaped text against a Markdown parser, and against what Streamlit makes of text after it."""

import re
from xml.etree import ElementTree

import pytest
from markdown_it import MarkdownIt

from ensemble.wording import escaping

# What Streamlit 1.67 does to text once Markdown has been read, from its StreamlitMarkdown.js and
# the autolink literals of mdast-util-gfm: there a backslash no longer helps.
AFTERWARDS = [
    re.compile(r"(https?://|www(?=\.))([-.\w]+)", re.IGNORECASE),
    re.compile(r"[-.\w+]+@[-\w]+(\.[-\w]+)+", re.ASCII),
    re.compile(r":material[/_]\w+:"),
    re.compile(r":streamlit:"),
    re.compile(r":[\w+-]+:"),
    re.compile(r":[a-z][a-z0-9-]*\["),
    re.compile(r"(^|\s)(<->|->|<-|--|>=|<=|~=)(\s|$)"),
]
HOSTILE = [
    "![x](http://evil.example/x.png)",
    "[x](http://evil.example)",
    "<http://evil.example>",
    "http://evil.example/a_b",
    "HTTPS://EVIL.EXAMPLE",
    "www.evil.example",
    "(www.evil.example)",
    "me@evil.example",
    "mailto:me@evil.example",
    "[a]: http://evil.example",
    "[^1]: note",
    "$x^2$ and $$y$$",
    ":red[x]",
    ":material/home:",
    ":material_home:",
    ":smile: :+1: :100:",
    ":streamlit:",
    "<b>x</b>",
    "<!-- x -->",
    "<img src=x onerror=y>",
    "`x`",
    "```x",
    "~~~",
    "~~x~~",
    "**x** __x__ *x* _x_",
    "# x",
    "#x",
    "> x",
    "- x",
    "+ x",
    "* x",
    "1. x",
    "1) x",
    "10. x",
    "===",
    "---",
    "- [ ] x",
    "a | b",
    "&lt;b&gt; &#33; &amp;",
    "\\[x\\](y)",
    "x\\",
    "\\",
    "a -> b -- c",
    "<- a <-> b >= c",
    "-- a",
    "a\n\n# b",
    "a\n===",
    "    x",
    "a  \nb",
    "\tx",
    "| a |\n|---|\n| b |",
    "a\u2028- b",
    "12:30:45",
    "full: free some room.",
    "run_1",
    "C:\\x\\y",
    "ENSEMBLE_RUNS __x_y__ _a_",
    "ﬁ – “x” … 日本語 👍🏽",
]
MARKDOWN = MarkdownIt("commonmark").enable(["table", "strikethrough"])
# Where a page puts such words: by themselves, in a heading, in bold, in a list, after a line break.
PLACES = ["{}", "#### {}", "**{}**", "- {}", "Says {}.", "x  \n{}"]


def kinds(text: str) -> list[str]:
    """The kinds of things that Markdown makes of a text."""
    inline = [child.type for block in MARKDOWN.parse(text) for child in block.children or ()]
    return [block.type for block in MARKDOWN.parse(text)] + [
        kind for kind in inline if kind not in ("text", "text_special")
    ]


def texts(markdown: str) -> str:
    """What is left to read."""
    blocks = MARKDOWN.parse(markdown)
    return "".join(
        child.content if "text" in child.type else " " if "break" in child.type else ""
        for block in blocks
        for child in block.children or ()
    )


@pytest.mark.parametrize("place", PLACES)
def test_nothing_hostile_is_markup_wherever_it_stands(place: str) -> None:
    for word in HOSTILE:
        escaped = place.format(escaping.escape_markdown(word))
        assert kinds(escaped) == kinds(place.format("x")), word
        assert not [one for one in AFTERWARDS if one.search(texts(escaped))], word


def test_what_is_escaped_reads_as_it_stood_on_one_line() -> None:
    for word in HOSTILE:
        said = texts(escaping.escape_markdown(word)).replace("\N{WORD JOINER}", "")
        assert said == " ".join(word.split()), word


@pytest.mark.parametrize(
    "said",
    [
        "There is no run “digits-0412”. It may have been deleted: choose another.",
        "epoch 3 of 10 · 6,712 img·member/s · 42 s left (about)",
        "It takes 97.3 %, p = 0.004",
        "4 members - rate 0.1",
        "Starts at 12:30.",
    ],
)
def test_an_ordinary_sentence_stays_as_it_is(said: str) -> None:
    assert escaping.escape_markdown(said) == said


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("\x1b[2J\x1b]0;title\x07", "\\x1b[2J\\x1b]0;title\\x07"),
        ("a\r\nb", "a\\r\\nb"),
        ("\x9b31m", "\\x9b31m"),
        ("a\u202eb", "a\\u202eb"),
        ("\udc80.png", "\\udc80.png"),
        ("Ünïcode – “x” 日本 1\u00a0s", "Ünïcode – “x” 日本 1\u00a0s"),
    ],
)
def test_nothing_steers_a_terminal(said: str, shown: str) -> None:
    assert escaping.escape_terminal_text(said) == shown


def test_a_figure_gets_no_tag_and_no_entity() -> None:
    assert escaping.escape_plotly_text("<a href='x'>T-shirt/top</a> & “y”") == (
        "&lt;a href='x'&gt;T-shirt/top&lt;/a&gt; &amp; “y”"
    )


@pytest.mark.parametrize("unseen", ["\x00", "\x0b", "\x1b", "\x7f", "\u202e", "\u2066", "\ud800", "\uffff"])
def test_what_cannot_be_seen_breaks_no_picture_and_turns_no_text(unseen: str) -> None:
    said = f"a{unseen}b"
    svg = ElementTree.fromstring(f"<text>{escaping.escape_plotly_text(said)}</text>")
    assert svg.text == "ab"
    assert texts(escaping.escape_markdown(said)).split() in (["ab"], ["a", "b"])


def test_a_template_of_plotly_reads_no_value_in_a_name() -> None:
    said = escaping.escape_plotly_template("<b>%{x} 5 %")
    assert "%{" not in said
    assert said.replace("\N{WORD JOINER}", "") == "&lt;b&gt;%{x} 5 %"


def test_letters_of_every_script_stay() -> None:
    said = "مرحبا\u200f שלום 👩\u200d🔬 मी\u200cक"
    assert escaping.remove_invisible_characters(said) == escaping.escape_plotly_text(said) == said


def test_a_file_to_keep_has_a_name_that_is_no_path() -> None:
    assert escaping.sanitize_file_name("../a b\\c:d\n.csv") == "---a-b-c-d--csv"
    assert escaping.sanitize_file_name("digits-0412-101500-epoch-3") == "digits-0412-101500-epoch-3"
