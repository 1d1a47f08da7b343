"""Where the next run is trained, and with what each of its tasks there."""

from ensemble.ui.devices import placement_control
from ensemble.ui.shared import settings, widget_state
from ensemble.ui.shared.settings import RUN_FORM, SettingsForm


def show_placement_control(form: SettingsForm = RUN_FORM) -> None:
    """The choice, and what is asked of a cluster; nothing where there is none to choose."""
    choice = placement_control.select_placement(
        f"{form.name}where",
        "On a cluster each group is a task; they are monitored from here and do not queue on this machine.",
    )
    if choice != placement_control.THIS_MACHINE:
        placement_control.show_free_resources(choice)
        settings.select_run_setting("groups", form)
        placement_control.show_task_requests(choice)


def get_selected_place(form: SettingsForm = RUN_FORM) -> str:
    chosen: str = widget_state.get_widget_value(f"{form.name}where", placement_control.THIS_MACHINE)
    return chosen
