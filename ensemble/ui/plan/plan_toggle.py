"""Below a run on Train: whether it could have been cheaper, for who asks."""

import streamlit as st

from ensemble import runs
from ensemble.ui.shared import address, widget_state


def show_plan_toggle(run: runs.Run) -> None:
    if run.active or run.training_config is None or not run.status.epoch:
        return
    if run.config.members * run.status.epoch < 2:  # there is no cheaper plan
        return
    address.show_address_widget(
        "plan_offer",
        address.CHEAPER.read() == "yes",
        lambda key: widget_state.draw_widget(
            st.toggle,
            "Would fewer members or epochs have done?",
            key=key,
            on_change=_update_plan_toggle_address,
            args=(key,),
            help="Fewer members or fewer epochs: what they would have come to, from the "
            "predictions that the run kept of every epoch.",
        ),
    )
    if address.CHEAPER.read() == "yes":
        # Only who asks waits for what reckons it to be imported.
        from ensemble.ui.plan import panel

        panel.show_plan_panel(run, compact=True)


def _update_plan_toggle_address(key: str) -> None:
    """Callback: the address follows the switch."""
    address.CHEAPER.set_value("yes" if widget_state.get_widget_value(key) else "no")
