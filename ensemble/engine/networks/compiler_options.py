"""What XLA is told where it compiles a network of a person's own."""

import os

import jaxlib

from ensemble.engine.networks.network import Network

YNN_FUSION = "xla_cpu_experimental_ynn_fusion_type"
# These hand sums of products to a library that ends the process where their arrays have many axes
# (jax 39257, 40412: SIGSEGV on 0.10.2 and 0.11.0; not on 0.11.1 and 0.12). 0.10.2 also takes wrong
# rows of some of more than 32,768 (jax 39103).
BROKEN_FUSION_VERSIONS = ("0.10.2", "0.11.0")


def choose_compiler_options(network: Network) -> dict[str, str] | None:
    """Options for `jax.jit` of a network's programs.

    The networks of this package have none: they do nothing of what breaks, and what they learn
    would be another in its last bits. Nor is there one where XLA_FLAGS says otherwise.
    """
    if not network.is_custom or jaxlib.__version__ not in BROKEN_FUSION_VERSIONS:
        return None
    if YNN_FUSION in os.environ.get("XLA_FLAGS", ""):
        return None
    return {YNN_FUSION: ""}
