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
SPECIAL = re.compile(r"[\\`*~$|<>&\[\]{}]|(?<![^\W_])_|_(?![^\W_])")
LIST_OR_HEADING = re.compile(r"^([-+#=]|\d+(?=[.)]))")
# http://, :material/home:, :streamlit:, :smile:, :red[…]; "12:30" and "full: free" are none.
COLON = re.compile(r":(?=[^\s\d]|\d+:)")
BARE_LINK = re.compile(r"(?<=[\w.+-])(?=@)|(?<=\bwww)(?=\.)", re.IGNORECASE)
ARROW = re.compile(r"(?<![^\s])(<-|[<>~]|-)(?=[->=])")

BLANKS = re.compile(r"[ \t\r\n\v\f\x1c-\x1f\x85\u2028\u2029]+")
MARKUP = re.compile(r"[&<>]")


def markdown(text: object) -> str:
    """Text that Streamlit's Markdown shows as it stands, on one line.

    It may stand anywhere in a sentence, a heading, a label or a list. An ordinary sentence comes
    back as it was.
    """
    said = BLANKS.sub(" ", str(text)).strip()
    said = ARROW.sub(rf"\1{JOINER}", said)
    said = COLON.sub(f":{JOINER}", said)
    said = BARE_LINK.sub(JOINER, said)
    said = SPECIAL.sub(r"\\\g<0>", said)
    return LIST_OR_HEADING.sub(line_start, said)


def line_start(found: re.Match[str]) -> str:
    """The beginning of a line that would be a list, a heading or an underlining."""
    begins = found.group()
    return f"{begins}\\" if begins.isdigit() else f"\\{begins}"


def figure(text: str) -> str:
    """Text that Plotly shows as it stands: it reads a few tags and entities of HTML."""
    return html.escape(text, quote=False)


def terminal(text: object) -> str:
    """Text for a terminal: whatever would steer it, or end the line, is spelt out."""
    return "".join(
        letter if shows(letter) else letter.encode("unicode_escape", "replace").decode()
        for letter in str(text)
    )


def shows(letter: str) -> bool:
    """Whether a terminal only shows it: letters, signs and blanks of every width."""
    return letter.isprintable() or unicodedata.category(letter) == "Zs"


def file_name(text: str) -> str:
    """A name for a file to keep, of letters, digits, hyphens and underscores."""
    return "".join(letter if letter.isalnum() or letter in "-_" else "-" for letter in text)
