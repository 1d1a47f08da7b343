"""Predictions at the edge of what there is: one example, none right, nothing but 0 and 1."""

import re

import numpy as np
import pytest
import streamlit as st

from ensemble import exchange
from ensemble.exchange.array_input import convert_arrays_to_outputs
from ensemble.ui.inspect.views import VIEWS
from tests.pages.hostile import strings
from tests.pages.test_imported import opened

LABELS = np.arange(50) % 3
CASES = {
    "one example": (np.array([[[0.1, 0.9]], [[0.2, 0.8]]]), np.array([0])),
    "none right": (np.repeat(np.eye(3)[[(LABELS + 1) % 3]], 3, axis=0), LABELS),
    "all right": (np.repeat(np.eye(3)[[LABELS]], 2, axis=0), LABELS),
}
# No sentence holds these; nor more than six digits behind the point.
NONSENSE = re.compile(r"\bnan\b|\binf\b|\bThese 1\b|(?<!of )\b1 (test )?examples|[-−]0\b(?![.:])|\.\d{7}")


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_every_view_says_something_sound_of_them(case: tuple[np.ndarray, np.ndarray]) -> None:
    st.cache_resource.clear()  # another test's run of this very second had the same id
    st.cache_data.clear()
    run = exchange.import_run(convert_arrays_to_outputs(*case), "odd")
    views = [("inspect", {"view": view}) for view in VIEWS if view not in ("shift", "digit")]
    for page, words in [*views, ("predictions", {}), ("train", {})]:
        at = opened(page, run, **words)
        assert not at.error
        said = [text for kind, field, text in strings(at) if field in ("body", "alt", "label") or kind == "metric"]
        frames = [one.value for one in at.dataframe]
        tables = [one.to_string() for one in frames if one.dtypes.eq(object).all()]
        assert not [one for one in (*said, *tables) if NONSENSE.search(one)]
