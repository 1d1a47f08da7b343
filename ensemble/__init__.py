"""Running and inspecting deep ensembles of image classifiers."""

__version__ = "0.1.0"
