"""The devices, the measured training speed, and how members are spread over the devices."""

import streamlit as st

from ensemble.config.batch_sharing import count_devices_per_member
from ensemble.machine.machine_info import read_machine_info as this_machine
from ensemble.machine.run_estimate import describe_members_per_device
from ensemble.ui.devices import bench_results, probe
from ensemble.ui.shared import server, settings, widget_state
from ensemble.ui.shared.field_control import draw_field_control
from ensemble.wording import escaping, formats
from ensemble.wording.bench import describe_bench_result
from ensemble.wording.runs.regression import format_ratio

_MEMBERS_KEY = "devices_members"
_THROUGHPUT_HELP = (
    "img·member/s: training images per second, times the members that learn from them. "
    "`ensemble bench` measures it again."
)
_MAX_LISTED_DEVICES = 8  # devices: more are said, not listed


def show_machine_header() -> None:
    """Devices, cores, memory and bfloat16; looks again until the devices are known.

    Above them, where tabs may be refused, how many there can be.
    """
    if few := server.raise_tab_limit():
        st.warning(few, icon=":material/tab:")
    waiting = probe.get_device_probe().is_pending
    st.fragment(_refresh_machine_header, run_every=0.5 if waiting else None)(waiting)


def _refresh_machine_header(was_waiting: bool) -> None:
    """The body of `show_machine_header`."""
    device_probe = probe.get_device_probe()
    if device_probe.is_pending != was_waiting:
        st.rerun()
    if here := device_probe.inventory:
        summary = here.summary
    else:
        summary = "Looking for devices…" if device_probe.is_pending else "The devices could not be asked."
    st.subheader(escaping.escape_markdown(summary), anchor=False)
    processor = this_machine()
    with st.container(horizontal=True, gap="medium", key="machine_figures"):
        for label, value, help in (
            ("Processor cores", f"{processor.cores:,}", "Shared by a CPU's devices."),
            (
                "Memory",
                f"{processor.memory_bytes / 2**30:,.0f} GB",
                "The machine's, or what a container may use of it.",
            ),
            (
                "bfloat16",
                _describe_bfloat16_speed(here.platform if here else ""),
                "A number of 16 bits with the range of one of 32: products of it are faster where "
                "the hardware has units for it, and a little slower where it has none.",
            ),
        ):
            st.metric(label, value, width="content", help=help)
    st.caption(escaping.escape_markdown(processor.processor))


def _describe_bfloat16_speed(platform: str) -> str:
    bench = bench_results.find_latest_bench()
    if bench and (gain := bench.bfloat16_gain):
        return f"{format_ratio(gain).removesuffix(' times')}× float32"
    if platform in ("", "cpu") and not this_machine().fast_bfloat16:
        return "emulated, a little slower"
    return "not measured yet"


def show_training_speed() -> None:
    """Show what `ensemble bench` last measured here, or how to measure it."""
    if bench := bench_results.find_latest_bench():
        st.markdown(
            f"**Training speed:** {escaping.escape_markdown(describe_bench_result(bench))}", help=_THROUGHPUT_HELP
        )
    else:
        st.caption("Training speed not measured yet. Run `ensemble bench`, and Train estimates the time from it.")


def show_member_distribution_panel() -> None:
    panel = st.expander("Members per device", key="members_per_device", on_change="rerun")
    if panel.open:
        with panel:
            _show_member_distribution()


def _show_member_distribution() -> None:
    held = widget_state.get_widget_value(settings.format_setting_key("members"), settings.RUN_FIELDS["members"].default)
    members = draw_field_control(
        settings.RUN_FIELDS["members"],
        _MEMBERS_KEY,
        "Members",
        start=held,
        steps=settings.list_slider_steps("members"),
        help="How many networks you would train.",
    )
    if here := probe.get_device_probe().inventory:
        st.markdown(describe_member_distribution(members, here.devices))
        if lines := list_members_by_device(members, here.devices):
            st.caption(lines)


def describe_member_distribution(members: int, devices: int) -> str:
    lanes = -(-members // devices)
    used = -(-members // lanes)
    how = describe_members_per_device(members, used)
    idle = ""
    if used < devices:
        idle = f"; {formats.format_count(devices - used, 'device')} would be idle"
    if count_devices_per_member(members, devices, devices) > 1:
        idle += ", unless *Batch parts* (on Train, under More) has devices share a member's batches"
    return f"{formats.format_count(members, 'member')} on {formats.format_count(used, 'device')}: {how}{idle}."


def list_members_by_device(members: int, devices: int) -> str:
    """Which members each device has; "" where there are too many devices to list, or one."""
    lanes = -(-members // devices)
    firsts = range(0, members, lanes)
    if not 1 < len(firsts) <= _MAX_LISTED_DEVICES:
        return ""
    return " · ".join(
        f"device {number + 1}: {_format_member_range(first + 1, min(first + lanes, members))}"
        for number, first in enumerate(firsts)
    )


def _format_member_range(first: int, last: int) -> str:
    """Members in words: "member 3", "members 1–2"."""
    return f"member {first}" if first == last else f"members {first}–{last}"
