"""Results of `ensemble bench` on this machine, read once per version of their folder."""

import socket

import streamlit as st

from ensemble.machine.bench_result import BenchResult, machine_folder, read_bench_results
from ensemble.ui.shared import loaders


def list_bench_results() -> list[BenchResult]:
    """Return every result on this machine, newest last; shared between tabs: treat it as read-only."""
    return _load_bench_results(str(machine_folder()), loaders.get_file_version(machine_folder()))


def find_latest_bench() -> BenchResult | None:
    """Return the newest result on this machine; None if there is none."""
    results = list_bench_results()
    return results[-1] if results else None


@st.cache_resource(max_entries=2, show_spinner=False)
def _load_bench_results(folder: str, version: tuple[int, int]) -> list[BenchResult]:
    return read_bench_results(socket.gethostname())
