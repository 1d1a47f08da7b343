"""A word where the folder of runs is full, or nearly: nothing new can be kept then."""

import streamlit as st

from ensemble.access import usage_limits
from ensemble.wording import escaping


def show_quota_warning() -> None:
    """Says how full it is, once it is worth a word; nothing where nobody set a size."""
    if not (disk_quota := usage_limits.measure_disk_quota()) or not disk_quota.is_nearly_full:
        return
    icon = ":material/disc_full:" if disk_quota.is_full else ":material/storage:"
    st.warning(escaping.escape_markdown(str(disk_quota)), icon=icon)
