"""The datasets there are, and what is known of each without reading it.

A new one that TensorFlow Datasets knows is an entry in `ENTRIES`; a person adds their own without
a line of code (`own/`). URLs and checksums are not here: they come from TensorFlow Datasets when a
dataset is prepared (`sources.py`).
"""

from ensemble.datasets.entry import Entry
from ensemble.datasets.own import entries as own_entries
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
        noun="digit",
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
        noun="digit",
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
        noun="character",
    ),
}
DATASETS = tuple(ENTRIES)
SAID = 12  # names in a refusal


def names() -> tuple[str, ...]:
    """The datasets there are: `DATASETS`, then a person's own by name."""
    return (*DATASETS, *own_entries.names())


def title_of(name: str) -> str:
    """What people call a dataset; its name where it is not there, as one's own once removed."""
    try:
        return find(name).title
    except ConfigError:
        return str(name)


def find(name: str) -> Entry:
    """The entry called `name`, built in or a person's own.

    Raises:
      ConfigError: there is none; the message lists those there are.
    """
    if name in ENTRIES:
        return ENTRIES[name]
    if entry := own_entries.find(name):
        return entry
    every = names()
    more = f" and {len(every) - SAID:,} more" if len(every) > SAID else ""
    said = ", ".join(every[:SAID])
    raise ConfigError(f"No such dataset: {name!r:.60}. There are: {said}{more}.")
