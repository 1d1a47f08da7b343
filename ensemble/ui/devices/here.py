"""What there is to train on, and how members would be spread over it."""

import streamlit as st

from ensemble.machine.estimate import members_per_device
from ensemble.machine.this_machine import machine as this_machine
from ensemble.ui.devices import loader, probe
from ensemble.ui.shared import serving, settings, widget
from ensemble.ui.shared.field_control import draw_field_control
from ensemble.wording import escaping, formats
from ensemble.wording.devices import times

MEMBERS = "devices_members"
LISTED = 8  # devices: more are said, not listed


def header() -> None:
    """Devices, cores, memory and bfloat16; looks again until the devices are known.

    Above them, where tabs may be refused, how many there can be.
    """
    if few := serving.few_tabs():
        st.warning(few, icon=":material/tab:")
    waiting = probe.probe().waiting
    st.fragment(header_body, run_every=0.5 if waiting else None)(waiting)


def header_body(was_waiting: bool) -> None:
    """The body of `header`."""
    found = probe.probe()
    if found.waiting != was_waiting:
        st.rerun()
    if here := found.answer:
        said = here.said
    else:
        said = "Looking for devices…" if found.waiting else "The devices could not be asked."
    st.subheader(escaping.markdown(said), anchor=False)
    processor = this_machine()
    with st.container(horizontal=True, gap="medium", key="machine_figures"):
        for label, value, help in (
            ("Processor cores", f"{processor.cores:,}", "What a CPU's devices share."),
            ("Memory", f"{processor.memory_bytes / 2**30:,.0f} GB", "All of the machine's."),
            (
                "bfloat16",
                bfloat16(here.platform if here else ""),
                "A number of 16 bits with the range of one of 32: products of it are faster where "
                "the hardware has units for it, and a little slower where it has not.",
            ),
        ):
            st.metric(label, value, width="content", help=help)
    st.caption(escaping.markdown(processor.processor))


def bfloat16(platform: str) -> str:
    """Its speed: as it was measured, else whether there are units for it."""
    race = loader.latest()
    if race and (gain := race.bfloat16_gain):
        return f"{times(gain).removesuffix(' times')}× float32"
    if platform in ("", "cpu") and not this_machine().fast_bfloat16:
        return "no units, a little slower"
    return "not measured yet"


def spread() -> None:
    """For a number of members: how many each device has, and what speed was measured."""
    held = widget.value(settings.key("members"), settings.FIELDS["members"].default)
    members = draw_field_control(
        settings.FIELDS["members"],
        MEMBERS,
        "Members",
        start=held,
        steps=settings.steps("members"),
        help="How many networks you would train.",
    )
    if here := probe.probe().answer:
        st.markdown(said(members, here.devices))
        if lines := listed(members, here.devices):
            st.caption(lines)
    if rate := measured(members):
        st.caption(f"Measured here: about {formats.throughput(rate)} in float32.")


def said(members: int, devices: int) -> str:
    """How many members each device has, in a sentence."""
    lanes = -(-members // devices)
    used = -(-members // lanes)
    how = members_per_device(members, used)
    idle = f"; {formats.count(devices - used, 'device')} would be idle" if used < devices else ""
    return f"{formats.count(members, 'member')} on {formats.count(used, 'device')}: {how}{idle}."


def listed(members: int, devices: int) -> str:
    """Which members each device has; "" where there are too many devices to list, or one."""
    lanes = -(-members // devices)
    firsts = range(0, members, lanes)
    if not 1 < len(firsts) <= LISTED:
        return ""
    return " · ".join(
        f"device {number + 1}: {span(first + 1, min(first + lanes, members))}"
        for number, first in enumerate(firsts)
    )


def span(first: int, last: int) -> str:
    """Members in words: "member 3", "members 1–2"."""
    return f"member {first}" if first == last else f"members {first}–{last}"


def measured(members: int) -> float | None:
    """This engine's speed in float32 with about so many members, as the last race found it."""
    race = loader.latest()
    return race.rate("float32", members) if race and race.agrees("float32") else None
