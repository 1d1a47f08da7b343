"""What can be done with a regression besides watching it: solve it again, reuse it, delete it."""

import streamlit as st

from ensemble import regression
from ensemble.access import Action
from ensemble.errors import EnsembleError
from ensemble.ui.frame import danger
from ensemble.ui.parallel import launch, loader, picker, settings
from ensemble.ui.shared import guard
from ensemble.ui.shared.tab import Tab, tab
from ensemble.ui.sign_in import rights
from ensemble.wording import escaping
from ensemble.wording.run_names import called, told_apart


def actions(solve: regression.Solve) -> None:
    """The same again, its settings again, and Delete, which asks first."""
    tell()
    if tab.solve_to_delete == solve.id:
        sure(solve)
        return
    with st.container(horizontal=True, gap="small"):
        if not solve.active and st.button("Solve the same again", key="solve_again",
                                          icon=":material/play_arrow:",
                                          **rights.given(Action.LAUNCH)):  # fmt: skip
            launch.launch(solve.config)
        st.button(
            "Use these settings again", key="solve_reuse", icon=":material/replay:",
            on_click=settings.fill, args=(solve.config,),
            help="Copies these settings to the controls, ready to change and launch.",
        )  # fmt: skip
        why = "Stop it first." if solve.active else None
        danger.ask_button("Delete…", key="solve_delete", on_click=ask, args=(solve.id,),
                          **rights.given(Action.DELETE, solve.path, disabled=solve.active,
                                         help=why))  # fmt: skip


def sure(solve: regression.Solve) -> None:
    """The second question before deleting."""
    name = escaping.markdown(called(solve))
    which = escaping.markdown(told_apart(solve))
    st.warning(f"Delete {which} with its measurements? It cannot be brought back.",
               icon=":material/delete_forever:")  # fmt: skip
    with st.container(horizontal=True):
        danger.sure_button(f"Delete {name} for good", key="solve_delete_sure", on_click=delete,
                           args=(solve.id,))  # fmt: skip
        st.button("Keep it", key="solve_keep", on_click=ask, args=(None,))


def ask(solve_id: str | None) -> None:
    """Callback: the first press on Delete, or Keep it."""
    tab.solve_to_delete = solve_id


def delete(solve_id: str) -> None:
    """Callback: the second press."""
    ask(None)
    try:
        regression.delete_solve(solve_id)
    except EnsembleError as error:
        tab.solve_said = str(error)
    except OSError as error:
        tab.solve_said = f"Its files cannot be deleted ({error.strerror})."
    else:
        picker.forget()
    loader.forget_solves()


def tell() -> None:
    """Why the last press could not be obeyed."""
    if said := Tab.solve_said.take():
        guard.problem(said)
