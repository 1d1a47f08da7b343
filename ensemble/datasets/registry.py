"""The datasets there are, and what is known of each without reading it.

A new one that TensorFlow Datasets knows is an entry in `ENTRIES`; a person adds their own without
a line of code (`own/`). URLs and checksums are not here: they come from TensorFlow Datasets when a
dataset is prepared (`download_manifest.py`).
"""

from ensemble.datasets.entry import DatasetEntry
from ensemble.datasets.own import custom_registry as own_entries
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
    "digits": DatasetEntry(
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
    "mnist": DatasetEntry(
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
    "fashion_mnist": DatasetEntry(
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
    "kmnist": DatasetEntry(
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
_MAX_NAMES_LISTED = 12  # names in a refusal


def list_dataset_names() -> tuple[str, ...]:
    """The datasets there are: `DATASETS`, then a person's own by name."""
    return (*DATASETS, *own_entries.list_custom_datasets())


def find_dataset_title(name: str) -> str:
    """What people call a dataset; its name where it is not there, as one's own once removed."""
    # Not by the way that lists all others where it is not there: a list of runs asks for each.
    entry = ENTRIES.get(name) or own_entries.find_custom_entry(name)
    return entry.title if entry else str(name)


def find_dataset_entry(name: str) -> DatasetEntry:
    """The entry called `name`, built in or a person's own.

    Raises:
      ConfigError: there is none; the message lists those there are.
    """
    if name in ENTRIES:
        return ENTRIES[name]
    if entry := own_entries.find_custom_entry(name):
        return entry
    every = list_dataset_names()
    more = f" and {len(every) - _MAX_NAMES_LISTED:,} more" if len(every) > _MAX_NAMES_LISTED else ""
    listing = ", ".join(every[:_MAX_NAMES_LISTED])
    raise ConfigError(f"No such dataset: {name!r:.60}. There are: {listing}{more}.")
