"""The runs that are ticked in the table: one is in the address as such, several are named there.

An address holds as many as Compare takes; more than that only this tab remembers.
"""

from collections.abc import Collection, Sequence
from contextlib import suppress

import streamlit as st

from ensemble import runs
from ensemble.access import Action
from ensemble.errors import RunError
from ensemble.ui.frame import danger
from ensemble.ui.jobs import picker
from ensemble.ui.predictions import downloads
from ensemble.ui.runs import doing, summary, tagging, ways
from ensemble.ui.shared import address, run_panel, widget
from ensemble.ui.shared.tab import tab
from ensemble.ui.sign_in import rights
from ensemble.wording import escaping, formats
from ensemble.wording.run_names import told_apart

NAMED = 3  # runs in a sentence
MOST_RESUMED = 8  # each that is resumed is a process, which waits for its turn


def ids() -> tuple[str, ...]:
    """The ids of the runs that are ticked, whether or not there are such runs."""
    if one := address.RUN.read():
        return (one,)
    return address.RUNS.read() or tab.runs_ticked


def keep(wanted: Sequence[str]) -> None:
    """Have these runs ticked, and no others."""
    del tab.runs_ticked
    address.RUNS.put(())
    if len(wanted) == 1:
        with suppress(RunError):  # deleted meanwhile: the next drawing shows it gone
            picker.remember(run_panel.SCREEN, runs.find(wanted[0]))
        return
    picker.forget(run_panel.SCREEN)
    if len(wanted) > ways.MOST:
        tab.runs_ticked = tuple(wanted)
    elif wanted:
        address.RUNS.put(tuple(wanted))


def pressed(key: str, listed: Sequence[str]) -> None:
    """Callback: rows were ticked; what is ticked and not in the list stays so.

    Args:
      key: of the table.
      listed: the ids of its rows.
    """
    rows = [listed[at] for at in widget.value(key).selection.rows if at < len(listed)]
    keep([*(one for one in ids() if one not in listed), *rows])


def panel(chosen: Sequence[runs.Run], listed: Collection[str], every: Sequence[runs.Run]) -> None:
    """What can be done with several runs at once.

    Args:
      chosen: those that are ticked.
      listed: the ids of the rows of the table.
      every: all runs.
    """
    with st.container(border=True, key="runs_ticked"):
        title(chosen, listed)
        if tab.runs_to_delete == tuple(run.id for run in chosen):
            sure(chosen)
        else:
            buttons(chosen)
        tagging.box(chosen, every)


def title(chosen: Sequence[runs.Run], listed: Collection[str]) -> None:
    """How many they are, how many of them the filters hide, and how to have none ticked."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.subheader(f"{formats.count(len(chosen), 'run')} ticked", anchor=False, width="content")
        if hidden := sum(run.id not in listed for run in chosen):
            are = "is" if hidden == 1 else "are"
            st.caption(f"{hidden:,} of them {are} hidden by the filters", width="content")
        st.space("stretch")
        st.button("Untick all", key="runs_untick", type="tertiary", on_click=keep, args=((),))


def buttons(chosen: Sequence[runs.Run]) -> None:
    """Compare, stop, resume, a file, and the first question before deleting."""
    active = [run for run in chosen if run.active]
    resumable = [run.id for run in chosen if run.may_resume]
    with st.container(horizontal=True, vertical_alignment="center"):
        ways.compare(chosen)
        st.space("stretch")
        csv(chosen, "runs_ticked_csv", "ticked")
        st.button(
            numbered("Stop", len(active)),
            icon=":material/stop:",
            key="runs_stop",
            on_click=stop,
            args=(tuple(run.id for run in active),),
            **rights.given(
                Action.STOP,
                disabled=not active,
                help="What they have learnt so far is kept, and they can be resumed.",
            ),
        )
        st.button(
            numbered("Resume", len(resumable)),
            icon=":material/resume:",
            key="runs_resume",
            on_click=resume,
            args=(tuple(resumable),),
            **rights.given(
                Action.CHANGE,
                disabled=not 0 < len(resumable) <= MOST_RESUMED,
                help="Those that were stopped or failed go on, each from its last checkpoint: at "
                f"most {MOST_RESUMED} at once.",
            ),
        )
        danger.ask_button(
            "Delete…",
            key="runs_delete",
            on_click=ask,
            args=(tuple(run.id for run in chosen),),
            **rights.given(Action.DELETE, disabled=len(active) == len(chosen)),
        )
    if said := why_not(chosen, resumable):
        st.caption(said)


def numbered(verb: str, count: int) -> str:
    """What a button does and to how many: "Stop 2"; "Stop" where there is none."""
    return f"{verb} {count:,}" if count else verb


def why_not(chosen: Sequence[runs.Run], resumable: Sequence[str]) -> str:
    """Why a button is disabled, in a sentence or several; "" when none is."""
    said = []
    if len(chosen) > ways.MOST:
        said.append(ways.too_many(len(chosen)))
    if len(resumable) > MOST_RESUMED:
        said.append(f"Resume takes at most {MOST_RESUMED} at once: tick fewer.")
    if all(run.active for run in chosen):
        said.append("Active runs cannot be deleted: stop them first.")
    return " ".join(said)


def csv(shown: Sequence[runs.Run], key: str, which: str) -> None:
    """Runs as a file with every setting.

    Args:
      shown: the runs.
      key: of the button.
      which: what they have in common.
    """
    st.download_button(
        f"Download {formats.count(len(shown), 'run')} (CSV)",
        lambda: downloads.csv(summary.export(shown)),
        "runs.csv",
        "text/csv",
        icon=":material/download:",
        type="tertiary",
        on_click="ignore",
        key=key,
        help=f"Every setting and figure of the runs that are {which}.",
    )


def sure(chosen: Sequence[runs.Run]) -> None:
    """The second question before deleting, with the count; who is active is named and stays."""
    active = [run for run in chosen if run.active]
    going = tuple(run.id for run in chosen if run not in active)
    which = formats.count(len(going), "run")
    asked = f"Delete {which} with all curves, predictions and checkpoints? " if going else ""
    st.warning(
        f"{asked}{stays(active)}{'It cannot be brought back.' if going else ''}",
        icon=":material/delete_forever:",
    )
    with st.container(horizontal=True):
        if going:
            danger.sure_button(
                f"Delete {which} for good", key="runs_delete_sure", on_click=delete, args=(going,)
            )
        st.button("Keep them", key="runs_keep", on_click=ask, args=((),))


def stays(active: Sequence[runs.Run]) -> str:
    """Which runs are not deleted, and why, in Markdown; "" for none."""
    if not active:
        return ""
    names = ", ".join(f"“{escaping.markdown(told_apart(run))}”" for run in active[:NAMED])
    more = f" and {len(active) - NAMED:,} more" if len(active) > NAMED else ""
    if len(active) == 1:
        return f"{names} is active and stays: stop it first. "
    return f"{names}{more} are active and stay: stop them first. "


def ask(wanted: tuple[str, ...]) -> None:
    """Callback: the first press on Delete, or Keep them."""
    tab.runs_to_delete = wanted


def delete(going: Sequence[str]) -> None:
    """Callback: the second press."""
    ask(())
    left = [one for one in ids() if one not in going]
    doing.each(going, runs.delete, lambda n: f"Deleted {formats.count(n, 'run')}.")
    keep([*left, *(one for one in going if still_there(one))])


def still_there(run_id: str) -> bool:
    """Whether there is such a run."""
    try:
        return bool(runs.find(run_id))
    except RunError:
        return False


def stop(active: Sequence[str]) -> None:
    """Callback: ask all of them to stop."""
    doing.each(active, runs.request_stop, lambda n: f"Asked {formats.count(n, 'run')} to stop.")


def resume(resumable: Sequence[str]) -> None:
    """Callback: all of them go on where they ended."""
    doing.each(resumable, runs.resume, lambda n: f"Resumed {formats.count(n, 'run')}.")
