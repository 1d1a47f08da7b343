"""Networks of a person's own, asked once for each change of their code, for all tabs."""

import streamlit as st

from ensemble.jobs.network_probe import NetworkProbe, ProbeResult, list_code_versions


def probe_own_network(name: str, dataset: str, fingerprint: str) -> ProbeResult:
    """What is known of a network of one's own for a dataset; asked once for each change of it."""
    return _get_network_probe(name, dataset, fingerprint, list_code_versions(name)).result


def forget_network_probes() -> None:
    """Ask anew: for code that has changed where `list_code_versions` does not look."""
    _get_network_probe.clear()


@st.cache_resource(max_entries=64, show_spinner=False)
def _get_network_probe(
    name: str, dataset: str, fingerprint: str, version: tuple[tuple[str, int, int], ...]
) -> NetworkProbe:
    return NetworkProbe(name, dataset)
