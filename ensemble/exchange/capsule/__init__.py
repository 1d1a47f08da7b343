"""A run as data inside a report, and back to the bit; docs/capsule.md states the form."""

from ensemble.exchange.capsule.element import is_page
from ensemble.exchange.capsule.importing import import_capsule
from ensemble.exchange.capsule.reading import Capsule, read
from ensemble.exchange.capsule.writing import blocks

__all__ = ["Capsule", "blocks", "import_capsule", "is_page", "read"]
