"""Which files make up a dataset: asked of TensorFlow Datasets, the only place that imports it.

Its `url_infos` (URL, size, SHA-256, file name) and versions are kept by its maintainers and
can be read without TensorFlow. The rest of it is left aside: its stock builders need
TensorFlow to prepare, and its download manager waits without end on a stalled connection,
shows progress on the console only, and takes a file of the same name in `downloads/manual` for
the right one (these datasets' files all have the same four names), which then fails.
"""

import functools
from dataclasses import dataclass


@dataclass(frozen=True)
class RemoteFile:
    """A file to fetch: `name` in `downloads/manual`, `size` in bytes, `sha256` in hex."""

    name: str
    url: str
    size: int
    sha256: str


@dataclass(frozen=True)
class DownloadManifest:
    """The files of a dataset and the version TensorFlow Datasets gives it."""

    version: str
    files: tuple[RemoteFile, ...]


@functools.cache
def load_download_manifest(name: str) -> DownloadManifest:
    """The recipe of a dataset, from the installed TensorFlow Datasets (0.6 s to import).

    Args:
      name: its name there, which is its name here: "mnist", "fashion_mnist", "kmnist".
    """
    import tensorflow_datasets as tfds

    builder = tfds.builder_cls(name)
    files = (RemoteFile(info.filename, url, int(info.size), info.checksum) for url, info in builder.url_infos.items())
    return DownloadManifest(str(builder.VERSION), tuple(sorted(files, key=lambda file: -file.size)))
