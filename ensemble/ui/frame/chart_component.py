"""Charts of our own, as components of Streamlit's: what their scripts share, and their own."""

from pathlib import Path
from typing import Any

import streamlit as st

# In the order in which one needs what the others hold. The menus of Plotly's figures have `dom.js`
# too, and hand the sizes and the files to `tools.js`: see `figure_menu`.
SHARED_SCRIPTS = ("dom.js", "ticks.js", "csv.js", "tools.js")


def read_shared_script(name: str) -> str:
    """One of the files that several components share: a script, or the style of what they make."""
    return (Path(__file__).parent / "js" / name).read_text("utf-8")


def register_chart(name: str, folder: Path, css: str, scripts: tuple[str, ...]) -> Any:
    """Register a chart with Streamlit; its scripts are plain functions, joined in order.

    Args:
      name: of the component, and "ensemble_" before it.
      css: the file of its style; the chart is one element whose class has that file's name.
      scripts: its files; what `SHARED_SCRIPTS` holds stands before them.

    Returns:
      The function that draws one.
    """
    files = [
        *(read_shared_script(script) for script in SHARED_SCRIPTS),
        *((folder / script).read_text("utf-8") for script in scripts),
    ]
    return st.components.v2.component(
        f"ensemble_{name}",
        html=f'<div class="{Path(css).stem}"></div>',
        css=f"{read_shared_script('tools.css')}\n{(folder / css).read_text('utf-8')}",
        js="\n".join(files),
    )
