"""The datasets there are, and what is known of each without reading it.

A new dataset is a line in `ENTRIES`. URLs and checksums are not here: they come from
TensorFlow Datasets when a dataset is prepared (`sources.py`).
"""

from dataclasses import dataclass

from ensemble.errors import ConfigError

DIGIT_NAMES = tuple("0123456789")
FASHION_NAMES = (
    "T-shirt/top",
    "Trouser",
    "Pullover",
    "Dress",
    "Coat",
    "Sandal",
    "Shirt",
    "Sneaker",
    "Bag",
    "Ankle boot",
)
HIRAGANA_NAMES = ("o", "ki", "su", "tsu", "na", "ha", "ma", "ya", "re", "wo")


@dataclass(frozen=True)
class Entry:
    """What is known of a dataset beforehand. Sizes count images.

    `nbytes_download` is 0 for a dataset that comes with the package; else the bytes of its
    files as TensorFlow Datasets lists them, kept here so that the page can say them without
    importing it. `most_frequent` counts the test images of the commonest class: what always
    giving that answer gets right. `handwritten` says whether its classes are signs that a pen
    writes: only then does it make sense to show a network what a person has written.
    """

    name: str
    title: str
    train_size: int
    test_size: int
    class_names: tuple[str, ...]
    source: str
    most_frequent: int
    nbytes_download: int = 0
    handwritten: bool = True

    @property
    def nbytes_prepared(self) -> int:
        """Bytes of the prepared images (28×28, one byte a pixel) and labels (one byte)."""
        return (self.train_size + self.test_size) * (28 * 28 + 1)


ENTRIES = {
    "digits": Entry(
        name="digits",
        title="Digits",
        train_size=1297,
        test_size=500,
        class_names=DIGIT_NAMES,
        source="1,797 digits by 13 people, as scikit-learn ships them (Alpaydin and Kaynak, UCI "
        "1998), enlarged from 8×8 to 28×28; no download",
        most_frequent=51,
    ),
    "mnist": Entry(
        name="mnist",
        title="MNIST",
        train_size=60_000,
        test_size=10_000,
        class_names=DIGIT_NAMES,
        source="Handwritten digits (LeCun, Cortes and Burges 1998)",
        most_frequent=1_135,
        nbytes_download=11_594_722,
    ),
    "fashion_mnist": Entry(
        name="fashion_mnist",
        title="Fashion-MNIST",
        train_size=60_000,
        test_size=10_000,
        class_names=FASHION_NAMES,
        source="Photographs of clothes (Xiao, Rasul and Vollgraf, Zalando 2017)",
        most_frequent=1_000,
        nbytes_download=30_878_645,
        handwritten=False,
    ),
    "kmnist": Entry(
        name="kmnist",
        title="Kuzushiji-MNIST",
        train_size=60_000,
        test_size=10_000,
        class_names=HIRAGANA_NAMES,
        source="Hiragana in cursive script (Clanuwat and others, CODH 2018)",
        most_frequent=1_000,
        nbytes_download=21_240_888,
    ),
}
DATASETS = tuple(ENTRIES)


def find(name: str) -> Entry:
    """The entry called `name`.

    Raises:
      ConfigError: there is none; the message lists those there are.
    """
    if name not in ENTRIES:
        raise ConfigError(f"No such dataset: {name!r}. There are: {', '.join(DATASETS)}.")
    return ENTRIES[name]
