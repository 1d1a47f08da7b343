from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

KINDS = ("selectbox", "button_group", "toggle", "text_input", "select_slider", "slider", "number_input")


def one_of_each() -> None:
    import dataclasses

    from ensemble.settings import Settings, declare_setting
    from ensemble.ui.shared.field_control import draw_field_control

    @dataclasses.dataclass(frozen=True)
    class Config(Settings):
        word: str = declare_setting("b", "A word.", choices=("a", "b"))
        switch: bool = declare_setting(False, "A switch.")
        name: str = declare_setting("", "A name.", form=("[a-z]*", "letters"))
        short: int = declare_setting(3, "A short range.", low=1, high=64)
        long: int = declare_setting(3, "A long range.", low=1, high=4096)
        share: float = declare_setting(0.5, "A share.", low=0, high=1)

    fields = {field.name: field for field in dataclasses.fields(Config)}
    draw_field_control(fields["word"], "list", "Word")
    draw_field_control(fields["word"], "buttons", "Word", buttons=True)
    draw_field_control(fields["word"], "fewer", "Word", choices=["b"], help="Another help.")
    draw_field_control(fields["switch"], "switch", "Switch")
    draw_field_control(fields["name"], "name", "Name")
    draw_field_control(fields["short"], "short", "Short", start=5)
    draw_field_control(fields["short"], "typed", "Short", typed=True)
    draw_field_control(fields["long"], "long", "Long")
    draw_field_control(fields["long"], "steps", "Long", steps=(1, 2, 4))
    draw_field_control(fields["share"], "share", "Share")


@pytest.fixture(scope="module")
def at() -> AppTest:
    opened = AppTest.from_function(one_of_each)
    opened.session_state["steps"] = 7  # as a run has it whose settings are copied
    opened.run()
    assert not opened.exception
    return opened


def found(at: AppTest, key: str) -> tuple[str, Any]:
    """Which widget has the key, and itself."""
    every = [(kind, one) for kind in KINDS for one in at.get(kind) if one.key == key]
    assert len(every) == 1
    return every[0]


@pytest.mark.parametrize(
    ("key", "kind", "value", "help"),
    [
        ("list", "selectbox", "b", "A word."),
        ("buttons", "button_group", "b", "A word."),
        ("fewer", "selectbox", "b", "Another help."),
        ("switch", "toggle", False, "A switch."),
        ("name", "text_input", "", "A name."),
        ("short", "slider", 5, "A short range."),
        ("typed", "number_input", 3, "A short range."),
        ("long", "number_input", 3, "A long range."),
        ("steps", "select_slider", 7, "A long range."),
        ("share", "slider", 0.5, "A share."),
    ],
)
def test_a_field_says_which_widget_it_gets_and_what_that_holds(
    at: AppTest, key: str, kind: str, value: Any, help: str
) -> None:
    is_a, widget = found(at, key)
    assert (is_a, widget.value, widget.help) == (kind, value, help)


def test_a_field_gives_its_limits_and_what_is_held_is_added_to_the_steps(at: AppTest) -> None:
    for key in ("short", "typed"):
        _, widget = found(at, key)
        assert (widget.min, widget.max, widget.step) == (1, 64, 1)
    _, share = found(at, "share")
    assert (share.min, share.max, share.step) == (0.0, 1.0, 0.5)
    _, steps = found(at, "steps")
    assert steps.options == ["1", "2", "4", "7"]
    _, fewer = found(at, "fewer")
    assert fewer.options == ["b"]
