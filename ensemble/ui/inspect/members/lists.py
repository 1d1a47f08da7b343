"""The images that split the members: the most divided, the swing voters', the minorities'."""

import numpy as np
import streamlit as st

from ensemble.analysis.members.swing import right_minorities, swings
from ensemble.analysis.predictions import chosen, ordered
from ensemble.analysis.quality.averaging import Ints
from ensemble.ui.inspect import images
from ensemble.ui.inspect.loader import measured
from ensemble.ui.inspect.shown import Inspected
from ensemble.ui.shared import address
from ensemble.wording import formats
from ensemble.wording.formats import plural

ANYONE = 0


def show(shown: Inspected) -> None:
    """A choice of three lists; the votes stand under each image."""
    split = ordered(shown.made, chosen(shown.made, "split"), "split")
    swung, minority = measured(shown, swings), measured(shown, right_minorities)
    words = {
        "split": f"Most divided {len(split):,}",
        "swing": f"Swing voter {int(swung.any(axis=0).sum()):,}",
        "minority": f"Minority was right {len(minority):,}",
    }
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        kind = address.choose(address.LIST, f"{shown.noun.capitalize()}s", words, "split")
        voter = choose_voter(shown, swung) if kind == "swing" else ANYONE
    if kind == "split":
        st.caption(f"The {plural(shown.noun)} whose votes are most divided come first. Votes "
                   "against the "
                   "ensemble are underlined.")  # fmt: skip
        numbers = split
    elif kind == "swing":
        numbers = swinging(shown, swung, voter)
    else:
        st.caption(f"The ensemble is wrong on these, and at least one member is right: "
                   f"{len(minority):,} of its {int((~shown.made.right).sum()):,} "
                   "mistakes.")  # fmt: skip
        numbers = ordered(shown.made, minority, "split")
    if not len(numbers):
        st.info(f"There is no such {shown.noun}.", icon=":material/check:")
    images.show(shown, numbers, key=f"inspect_{kind}")


def choose_voter(shown: Inspected, swung: np.ndarray) -> int:
    """Any member, or one, from 1: whose leaving changes the verdict."""
    voter = address.VOTER.within(ANYONE, ANYONE, shown.members)
    counts = [int(swung.any(axis=0).sum()), *(int(one.sum()) for one in swung)]
    key = f"inspect_voter_{'_'.join(map(str, counts))}"
    address.bound(key, voter, lambda key: st.selectbox(
        "Whose vote decides", range(shown.members + 1), key=key, width=220,
        format_func=lambda m: f"{f'Member {m}' if m else 'Any member'} · {counts[m]:,}",
        on_change=address.follow, args=(address.VOTER, key, ANYONE),
    ))  # fmt: skip
    return voter


def swinging(shown: Inspected, swung: np.ndarray, voter: int) -> Ints:
    """The images whose verdict hangs on the voter, or on anybody; says whether for the better."""
    numbers = np.flatnonzero(swung[voter - 1] if voter else swung.any(axis=0))
    right = int(shown.made.right[numbers].sum())
    who = f"member {voter}" if voter else "one of the members"
    st.caption(
        f"Without {who} the ensemble would say something else of "
        f"{formats.count(len(numbers), shown.noun)}. As it is, it has {right:,} of them right."
    )
    return ordered(shown.made, numbers, "unsure")
