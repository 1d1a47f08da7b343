"""A screen of test images as a test opens it, and what it then holds."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from streamlit.testing.v1 import AppTest

from ensemble.runs import Run
from ensemble.ui.shared import loaders

APP = Path(__file__).parents[2] / "app.py"
Open = Callable[..., AppTest]


def opened(run: Run | str = "", page: str = "predictions", **address: object) -> AppTest:
    """Opens a screen with these words in the address; `class_` stands for "class"."""
    loaders.forget_runs()  # those of an earlier test
    at = AppTest.from_file(str(APP), default_timeout=240)
    if run:
        at.query_params["run"] = run if isinstance(run, str) else run.id
    for name, value in address.items():
        at.query_params[name.rstrip("_")] = str(value)
    at.switch_page(f"pages/{page}.py").run()
    assert not at.exception
    return at


def tiles(at: AppTest) -> list[dict[str, Any]]:
    """What the grid was given to draw."""
    sent = json.loads(at.get("bidi_component")[0].proto.json)
    assert sent["strip"].startswith("data:image/png;base64,")
    return sent["tiles"]


def numbers(at: AppTest) -> list[int]:
    return [tile["number"] for tile in tiles(at)]


def widget(at: AppTest, kind: str, key: str) -> Any:
    """The widget whose key begins with `key`."""
    return next(one for one in at.get(kind) if one.key and one.key.startswith(key))


def answer(at: AppTest) -> str:
    return next(one.value for one in at.markdown if one.value.startswith("#### "))


def view_answer(at: AppTest) -> str:
    """The sentence of a view of Inspect."""
    return next(one.value for one in at.markdown if one.value.startswith("##### "))[6:]


def value(at: AppTest, name: str) -> str | None:
    """A word of the address; the tester gives a list where it put it there itself."""
    found = at.query_params.get(name)
    return found[0] if isinstance(found, list) else found
