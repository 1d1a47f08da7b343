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
from collections.abc import Sequence
from importlib import resources
from typing import Any

_GZIP_LEVEL = 9  # of gzip; of plotly.js it takes a third of a second, once


def compress_to_base64(text: str) -> str:
    """A text as gzip in base64, which every browser since 2023 unpacks by itself."""
    return base64.b64encode(gzip.compress(text.encode(), _GZIP_LEVEL, mtime=0)).decode()


def render_data_element(element: str, content: str) -> str:
    """An element of packed data, which no browser runs.

    Args:
      content: from `compress_to_base64`.
    """
    name = html.escape(element)
    return f'<script type="application/octet-stream" id="{name}">{content}</script>'


def format_strict_json(value: Any) -> str:
    """JSON without what cannot stand in it, as NaN: ValueError."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


@functools.cache
def load_packed_plotly() -> tuple[str, str]:
    text = (resources.files("plotly") / "package_data" / "plotly.min.js").read_text("utf-8")
    return compress_to_base64(text), compute_script_hash(text)


@functools.cache
def read_static_file(name: str) -> str:
    """The text of a file in `static/`."""
    return (resources.files("ensemble.report") / "static" / name).read_text("utf-8")


def join_scripts(names: Sequence[str]) -> str:
    """Several files of `static/` as one script."""
    return "\n".join(map(read_static_file, names))


def compute_script_hash(script: str) -> str:
    """A script's name in a policy: 'sha256-…'."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"


def build_content_policy(*scripts: str, workers: bool = False) -> str:
    """What the page may do: draw itself, from itself, with these scripts; load nothing.

    Args:
      scripts: their names, from `compute_script_hash`.
      workers: whether it may start workers, made of its own text; what they may do is the same.
    """
    started = "worker-src blob:; " if workers else ""
    return (
        f"default-src 'none'; script-src {' '.join(scripts)}; {started}"
        "style-src 'unsafe-inline'; img-src data: blob:; base-uri 'none'; form-action 'none'"
    )
