"""What source files import, without parsing all that is in them."""

import ast
import re

# The formatter has every statement begin a line of its own, and a text of several lines end with
# three of these; code in such a text is not the file's.
IMPORT = re.compile(r"^[ \t]*((?:from|import)\b[^\n(]*(?:\([^)]*\))?[^\n]*)", re.MULTILINE)
QUOTES = '"""'


def find_imports(source: str) -> list[ast.Import | ast.ImportFrom]:
    """The import statements of a source, also those within functions.

    Only lines that look like one are parsed, a tenth of the work. Where that cannot be done, the
    whole source is.
    """
    parts = source.split(QUOTES)
    try:
        if len(parts) % 2 == 0:  # They stand in another text as well.
            raise SyntaxError
        tree = ast.parse("\n".join(IMPORT.findall(QUOTES.join(parts[::2]))))
    except SyntaxError:
        tree = ast.parse(source)
    return [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
