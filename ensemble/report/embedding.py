"""What stands inside a page beside its text: packed data, and scripts that it names by their hash.

The page's policy lets no script run but those whose SHA-256 it names, so nothing that a run has
brought, a name or a note, can become one. Packed data is base64: no `</script>` can stand in it.
"""

import base64
import functools
import gzip
import hashlib
import html
import json
from importlib import resources
from typing import Any

LEVEL = 9  # of gzip; of plotly.js it takes a third of a second, once


def packed(text: str) -> str:
    """A text as gzip in base64, which every browser since 2023 unpacks by itself."""
    return base64.b64encode(gzip.compress(text.encode(), LEVEL, mtime=0)).decode()


def data(element: str, content: str) -> str:
    """An element of packed data, which no browser runs.

    Args:
      element: its id.
      content: from `packed`.
    """
    name = html.escape(element)
    return f'<script type="application/octet-stream" id="{name}">{content}</script>'


def as_json(value: Any) -> str:
    """JSON without what cannot stand in it, as NaN: ValueError."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


@functools.cache
def plotly() -> tuple[str, str]:
    """The library that draws the figures, packed, and its hash for the policy."""
    text = (resources.files("plotly") / "package_data" / "plotly.min.js").read_text("utf-8")
    return packed(text), digest(text)


@functools.cache
def own(name: str) -> str:
    """The text of a file in `static/`."""
    return (resources.files("ensemble.report") / "static" / name).read_text("utf-8")


def digest(script: str) -> str:
    """A script's name in a policy: 'sha256-…'."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"


def policy(*scripts: str) -> str:
    """What the page may do: draw itself, from itself, with these scripts; load nothing.

    Args:
      scripts: their names, from `digest`.
    """
    return (
        f"default-src 'none'; script-src {' '.join(scripts)}; style-src 'unsafe-inline'; "
        "img-src data: blob:; base-uri 'none'; form-action 'none'"
    )
