"""The words of the address: how each is read, its bounds and default, and how it is written."""

from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from ensemble.ui.shared import address, navigation

WORDS = {name: one for name, one in vars(address).items() if isinstance(one, address.QueryParameter)}


Question = tuple[str, str, tuple[Any, ...], dict[str, str]]


def asked(questions: "list[Question]") -> None:
    """A script that asks words of the address, each in an address of its own, and keeps what they say."""
    import streamlit as st

    from ensemble.ui.shared import address

    st.session_state["said"] = []
    for name, method, values, words in questions:
        st.query_params.from_dict(words)
        said = getattr(getattr(address, name), method)(*values)
        st.session_state["said"].append((said, st.query_params.to_dict()))


def ask(questions: list[Question]) -> list[tuple[Any, dict[str, str]]]:
    """What each word says in an address with these words, and the address afterwards."""
    at = AppTest.from_function(asked, args=(questions,)).run()
    assert not at.exception
    found: list[tuple[Any, dict[str, str]]] = at.session_state["said"]
    return found


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("RUN", "20261122-1", "20261122-1"),
        ("RUN", "", None),
        ("RUN", None, None),
        ("EPOCH", "12", 12),
        ("EPOCH", "0", 0),
        ("EPOCH", None, None),
        ("EPOCH", "-1", None),
        ("EPOCH", "1.5", None),
        ("EPOCH", "٣", None),
        ("EPOCH", "²", None),
        ("EPOCH", "99999999", 99_999_999),
        ("EPOCH", "100000000", None),
        ("EPOCH", " 1", None),
        ("REFUSE", None, 3),
        ("REFUSE", "much", 3),
        ("REFUSE", "0", 1),
        ("REFUSE", "5", 5),
        ("REFUSE", "51", 50),
        ("FIRST", None, 0),
        ("FIRST", "60", 60),
        ("FIRST", "x", 0),
        ("SHOW", None, "all"),
        ("SHOW", "wrong", "wrong"),
        ("SHOW", "WRONG", "all"),
        ("ORDER", None, "unsure"),
        ("ORDER", "number", "number"),
        ("ORDER", "no", "unsure"),
        ("RUNS", "b,a", ("b", "a")),
        ("RUNS", "a, b,,a", ("a", "b")),
        ("RUNS", None, ()),
        ("BY", "learning_rate", ("learning_rate",)),
        ("TAG", "rates", "rates"),
    ],
)
def test_a_word_is_read_within_its_bounds_and_one_without_sense_left_out(
    name: str, text: str | None, value: Any
) -> None:
    assert WORDS[name].parse(text) == value


def test_the_tabs_own_address_is_read_within_bounds_and_options_that_the_data_set() -> None:
    cases: list[tuple[Question, Any]] = [(("EPOCH", "read", (), {"epoch": "7"}), 7), (("EPOCH", "read", (), {}), None)]
    bounds = [({}, 2), ({"number": "5"}, 5), ({"number": "900"}, 9), ({"number": "0"}, 1), ({"number": "many"}, 2)]
    cases += [(("NUMBER", "read_within", (2, 1, 9), words), number) for words, number in bounds]
    options = [
        ("VIEW", {}, "3"),
        ("VIEW", {"view": "5"}, "5"),
        ("VIEW", {"view": "4"}, "3"),
        ("REFUSE", {"refuse": "50"}, "50"),
        ("REFUSE", {"refuse": "77"}, "50"),
    ]
    cases += [((name, "read_option", (("3", "5", "50"), "3"), words), chosen) for name, words, chosen in options]
    assert [said for said, _ in ask([question for question, _ in cases])] == [value for _, value in cases]


def test_a_default_is_not_written_and_all_else_is() -> None:
    written: list[tuple[str, tuple[Any, ...], dict[str, str]]] = [
        ("RUN", ("b",), {"run": "b", "digit": "1"}),
        ("RUN", (None,), {"digit": "1"}),
        ("DIGIT", (0,), {"run": "a", "digit": "0"}),
        ("DIGIT", (None,), {"run": "a"}),
        ("FIRST", (0,), {"run": "a", "digit": "1"}),
        ("FIRST", (24,), {"run": "a", "digit": "1", "first": "24"}),
        ("SHOW", ("all",), {"run": "a", "digit": "1"}),
        ("WITH_EPOCH", (4, 4), {"run": "a", "digit": "1"}),
        ("WITH_EPOCH", (3, 4), {"run": "a", "digit": "1", "with_epoch": "3"}),
    ]
    before = {"run": "a", "digit": "1"}
    found = ask([(name, "set_value", values, before) for name, values, _ in written])
    assert [words for _, words in found] == [after for _, _, after in written]


def test_what_is_written_is_read_again() -> None:
    for name, value in (("RUN", "a"), ("EPOCH", 3), ("REFUSE", 7), ("SHOW", "split"), ("RUNS", ("b", "a"))):
        word = WORDS[name]
        assert word.parse(word.build_query(value)[word.name]) == value


def test_every_word_has_a_name_of_its_own() -> None:
    names = [word.name for word in WORDS.values()]
    assert len(names) > 20
    assert len(set(names)) == len(names)


def test_a_view_takes_its_own_words_with_it_and_leaves_the_run() -> None:
    def script() -> None:
        from ensemble.ui.shared import address

        address.drop_other_parameters(address.RUN, address.EPOCH)

    at = AppTest.from_function(script)
    for word, text in {"run": "a", "epoch": "1", "plan": "4-9", "unknown": "x"}.items():
        at.query_params[word] = text
    assert set(at.run().query_params) == {"run", "epoch"}


def test_what_a_drawing_that_was_cut_short_had_set_is_set_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """A browser shows what a widget was told, and it was told in a drawing that never came."""
    monkeypatch.setattr(navigation, "redirect_through_app", lambda: None)

    def script() -> None:
        import streamlit as st

        from ensemble.ui.shared import address, navigation

        def main() -> None:
            address.select_address_option(address.VIEW, "View", {"a": "A", "b": "B"}, "a")
            if st.session_state.setdefault("drawings", 0) == 0:
                st.session_state["drawings"] = 1
                st.stop()

        navigation.draw_page("inspect", main)

    at = AppTest.from_function(script)
    at.query_params["view"] = "b"
    told = [at.run().get("button_group")[0].proto.set_value for _ in range(3)]
    assert told == [True, True, False]
