"""Text from outside made harmless where it is shown: in Markdown, in a figure, on a terminal.

From outside come addresses, names, notes, messages, classes and files' names, and every sentence
that quotes one. Escaped, they show letter by letter as they are.
"""

import html
import re
import unicodedata

# Joins its neighbours and cannot be seen. Streamlit makes links, icons and arrows of text after
# Markdown's own escapes are undone: only a letter in between keeps it from that.
JOINER = "\N{WORD JOINER}"

# What is markup anywhere in a line; and what is so only where a line begins.
_SPECIAL = re.compile(r"[\\`*~$|<>&\[\]{}]|(?<![^\W_])_|_(?![^\W_])")
_LIST_OR_HEADING = re.compile(r"^([-+#=]|\d+(?=[.)]))")
# http://, :material/home:, :streamlit:, :smile:, :red[…]; "12:30" and "full: free" are none.
_COLON = re.compile(r":(?=[^\s\d]|\d+:)")
_BARE_LINK = re.compile(r"(?<=[\w.+-])(?=@)|(?<=\bwww)(?=\.)", re.IGNORECASE)
_ARROW = re.compile(r"(?<![^\s])(<-|[<>~]|-)(?=[->=])")

# What stands in sentences in Markdown: escaped signs, bold words; and signs put by meanwhile.
ESCAPED = re.compile(r"\\([\\`*~$|<>&\[\]{}_#+=.)-])")
BOLD = re.compile(r"\*\*(.+?)\*\*")
HIDDEN = re.compile(r"\x00(\d+)\x00")

_BLANKS = re.compile(r"[ \t\r\n\v\f\x1c-\x1f\x85\u2028\u2029]+")
# What no screen shows and nobody types: control characters, which no SVG may hold either (XML 1.0,
# 2.2), halves of a character, and what would turn the text around it (Unicode TR 36, 2.5).
_INVISIBLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]")


def remove_invisible_characters(text: object) -> str:
    return _INVISIBLE.sub("", str(text))


def escape_markdown(text: object) -> str:
    """Text that Streamlit's Markdown shows as it stands, on one line.

    It may stand anywhere in a sentence, a heading, a label or a list. An ordinary sentence comes
    back as it was.
    """
    escaped = remove_invisible_characters(_BLANKS.sub(" ", str(text))).strip()
    escaped = _ARROW.sub(rf"\1{JOINER}", escaped)
    escaped = _COLON.sub(f":{JOINER}", escaped)
    escaped = _BARE_LINK.sub(JOINER, escaped)
    escaped = _SPECIAL.sub(r"\\\g<0>", escaped)
    return _LIST_OR_HEADING.sub(_escape_line_start, escaped)


def _escape_line_start(match: re.Match[str]) -> str:
    begins = match.group()
    return f"{begins}\\" if begins.isdigit() else f"\\{begins}"


def strip_markdown(text: str) -> str:
    """A sentence of this program's Markdown as it is read: bold words and escaped signs bare."""
    bare = BOLD.sub(r"\1", ESCAPED.sub(lambda match: f"\0{ord(match[1])}\0", remove_invisible_characters(text)))
    return HIDDEN.sub(lambda match: chr(int(match[1])), bare.replace(JOINER, ""))


def escape_plotly_text(text: str) -> str:
    """Text that Plotly shows as it stands: it reads a few tags and entities of HTML."""
    return html.escape(remove_invisible_characters(text), quote=False)


def escape_plotly_template(text: str) -> str:
    """As `escape_plotly_text`, in a template of Plotly's, which reads %{…} as a value."""
    return escape_plotly_text(text).replace("%{", f"%{JOINER}{{")


def escape_terminal_text(text: object) -> str:
    """Text for a terminal: whatever would steer it, or end the line, is spelt out."""
    return "".join(
        letter if _is_visible_letter(letter) else letter.encode("unicode_escape", "replace").decode()
        for letter in str(text)
    )


def _is_visible_letter(letter: str) -> bool:
    """Whether a terminal only shows it: letters, signs and blanks of every width."""
    return letter.isprintable() or unicodedata.category(letter) == "Zs"


def sanitize_file_name(text: str) -> str:
    return "".join(letter if letter.isalnum() or letter in "-_" else "-" for letter in text)
