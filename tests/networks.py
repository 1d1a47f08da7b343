"""The HOWTO's network as most tests take it: for digits of 28×28 and ten classes."""

from ensemble.engine.networks.registry import bind_network

CNN = bind_network("cnn", (28, 28, 1), 10)
