"""What folders of splits are called: train, seg_train, X_train, "MNIST - JPG - training"."""

import re
import unicodedata
from dataclasses import dataclass
from pathlib import PurePath

from ensemble.files.columns import SPLIT_NAMES

UNLABELLED = "unlabelled"  # a split whose pictures have no class
_SPLIT_WORDS = {
    **SPLIT_NAMES,
    "trains": "train",
    "trainval": "train",
    "trn": "train",
    "tests": "test",
    "tst": "test",
    "evaluation": "test",
    "eval": "test",
    "holdout": "test",
    "validate": "val",
    "valids": "val",
    "development": "val",
    "entrenamiento": "train",
    "treino": "train",
    "entrainement": "train",
    "prueba": "test",
    "teste": "test",
    "validacion": "val",
    "validacao": "val",
    "pred": UNLABELLED,
    "predict": UNLABELLED,
    "prediction": UNLABELLED,
    "unlabeled": UNLABELLED,
    "unlabelled": UNLABELLED,
    "submission": UNLABELLED,
}
# What says nothing of its own beside such a word.
_FILLER_WORDS = frozenset(
    {
        "set",
        "sets",
        "data",
        "dataset",
        "datasets",
        "split",
        "image",
        "images",
        "img",
        "imgs",
        "picture",
        "pictures",
        "pics",
        "photo",
        "photos",
        "x",
        "seg",
        "jpg",
        "jpeg",
        "png",
        "bmp",
        "tiff",
        "raw",
        "folder",
        "dir",
        "part",
        "final",
        "resized",
        "original",
        "the",
        "my",
        "all",
        "list",
        "lists",
        "file",
        "files",
        "filenames",
        "names",
    }
)
_GLUED_NAME = re.compile(
    r"x?(train|trainval|training|test|testing|val|valid|validation|dev)"
    r"(set|sets|data|dataset|img|imgs|images|pics|pictures|folder|dir|list|)"
)
_FOLD_NAME = re.compile(r"(fold|part|batch|chunk|shard|session|data batch) ?\d+")


@dataclass(frozen=True)
class SplitName:
    """A folder's name as that of a split.

    Attributes:
      split: "train", "val", "test" or `UNLABELLED`.
      rest: the words besides, in lower case: those of a dataset or of a class.
      remainder: what stands before and after the word of the split, as it is spelt.
    """

    split: str
    rest: str
    remainder: str = ""

    @property
    def is_plain(self) -> bool:
        """Whether the name says nothing else."""
        return not self.rest


def parse_split_folder(name: str) -> SplitName | None:
    """What a folder's name says of its split; None where it names none, or two."""
    words, splits, remainder = list[str](), set[str](), normalize_name(name)
    for word in _list_name_words(name):
        glued = _GLUED_NAME.fullmatch(word)
        if split := _SPLIT_WORDS.get(glued[1] if glued else word):
            splits.add(split)
            remainder = re.sub(re.escape(word), "", remainder, count=1, flags=re.IGNORECASE)
        elif word not in _FILLER_WORDS and not word.isdigit():
            words.append(word)
    if len(splits) != 1:
        return None
    return SplitName(splits.pop(), " ".join(words), remainder.strip(" _-."))


def parse_split_location(path: PurePath) -> str:
    """The split that one of a picture's folders is named as, of the outermost; "" where none is."""
    for part in path.parts[:-1]:
        said = parse_split_folder(part)
        if said and said.is_plain:
            return said.split
    return ""


def is_wrapper_name(name: str, around: str) -> bool:
    """Whether a folder that is alone in another stands for it: train/train, train/images."""
    words = _list_name_words(name)
    said = parse_split_folder(name)
    return (
        normalize_name(name) == normalize_name(around)
        or all(word in _FILLER_WORDS for word in words)
        or (said is not None and said.is_plain)
    )


def is_fold_name(name: str) -> bool:
    """Whether a folder is a numbered part of the whole: fold_1, batch2."""
    return _FOLD_NAME.fullmatch(" ".join(_list_name_words(name))) is not None


def _list_name_words(name: str) -> list[str]:
    """The words of a name in lower case, parted where case or anything but letters parts them."""
    parted = re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[a-zA-Z])(?=\d)", " ", normalize_name(name))
    return re.findall(r"[^\W_]+", _strip_accents(parted.lower()))


def _strip_accents(text: str) -> str:
    """Letters without what stands above or below them: "entraînement" is "entrainement"."""
    letters = unicodedata.normalize("NFD", text)
    return unicodedata.normalize("NFC", "".join(c for c in letters if not unicodedata.combining(c)))


def normalize_name(name: str) -> str:
    """A name in the one Unicode form (NFC) of all that look like it."""
    return unicodedata.normalize("NFC", name)
