"""Settings to begin with, by name; and whether those that are set are of the run that is shown."""

import streamlit as st

from ensemble import architectures, runs
from ensemble.config import AnyTrainingConfig, EnsembleConfig
from ensemble.datasets import registry
from ensemble.ui.shared import settings

CLASS_PRESET = "In class (30 s)"
# Chosen on a tenth of MNIST's training images that was held out (benchmarks.training.recipes).
_BEST_ACCURACY_CONFIG = EnsembleConfig(
    dataset="mnist",
    members=5,
    optimizer="adamw",
    learning_rate=0.003,
    schedule="cosine",
    warmup_epochs=0.1,
    shift_pixels=2,
    rotation_degrees=10.0,
    slant_degrees=10.0,
    elastic_pixels=1.0,
)
PRESETS = {
    "Quick look": EnsembleConfig(),
    # As many members as have a colour of their own, and few epochs: they dispute more then.
    CLASS_PRESET: EnsembleConfig(members=7, epochs=10),
    "HOWTO": EnsembleConfig(dataset="mnist", epochs=3),
    "Best accuracy": _BEST_ACCURACY_CONFIG,
}
_PRESETS_HELP = "Fills every setting, dataset and network too; nothing starts until you launch."
_PRESET_DESCRIPTIONS = {
    "Quick look": "in seconds, with the default settings",
    CLASS_PRESET: "seven members in about half a minute, with disputed digits to talk about",
    "HOWTO": "with the settings of Flax's HOWTO",
    "Best accuracy": "moved and bent a little, with AdamW; 99.56 % of the test images right",
}
_MAX_NAMED_SETTINGS = 3  # so many settings that differ are named, the others counted
_SHORT_LABELS = {"learning_rate": "rate", "vary": "what differs by member"}


def show_preset_buttons() -> None:
    """The presets; the one that the settings are is marked, none once they are changed.

    Buttons, that hold nothing: a widget that held the name would be sent back as it was before
    a setting changed, with the next setting that is changed quickly, and undo them both.
    """
    st.caption("Start from", help=_PRESETS_HELP)
    now = _find_current_preset()
    with st.container(horizontal=True, gap="xxsmall", key="preset"):
        for name, preset in PRESETS.items():
            label = f":blue[**{name}**]" if name == now else name
            st.button(
                label,
                key=format_preset_key(name),
                help=describe_preset(name),
                on_click=settings.fill_run_settings,
                args=(preset, name),
            )


def describe_preset(name: str) -> str:
    """What a preset trains on what: "HOWTO's CNN on MNIST, with …"."""
    preset = PRESETS[name]
    network = architectures.format_network_title(preset.network)
    return f"{network} on {registry.find_dataset_title(preset.dataset)}, {_PRESET_DESCRIPTIONS[name]}."


def _find_current_preset() -> str | None:
    held = settings.collect_settings(settings.RUN_FORM)
    return next((name for name, preset in PRESETS.items() if preset.as_dict() == held), None)


def format_preset_key(name: str) -> str:
    return f"preset_{''.join(c if c.isalnum() else '_' for c in name.lower())}"


def show_settings_difference(run: runs.Run) -> None:
    """Whether the settings are those of the run that is shown; one press makes them so."""
    if run.settings is None:  # it has none to compare with, or to take over
        return
    if not (differ := _list_differing_settings(run.settings)):
        st.caption("Same settings as the run shown.")
        return
    more = f" and {len(differ) - _MAX_NAMED_SETTINGS} more" if len(differ) > _MAX_NAMED_SETTINGS else ""
    with st.container(gap=None):
        st.caption(f"Differs from the run shown: {', '.join(differ[:_MAX_NAMED_SETTINGS])}{more}.")
        st.button(
            "Copy this run's settings",
            key="reuse",
            icon=":material/replay:",
            type="tertiary",
            on_click=settings.fill_run_settings,
            args=(run.settings, "the run shown"),
            help="Copies the settings of the run shown to the controls, to change and launch.",
        )


def _list_differing_settings(config: AnyTrainingConfig) -> list[str]:
    held, run_settings = settings.collect_settings(settings.find_settings_form(config)), config.as_dict()
    return [
        _SHORT_LABELS.get(name, settings.format_setting_title(name).lower())
        for name in held
        if held[name] != run_settings[name]
    ]
