"""HEIC pictures, which iPhones take, if the package that reads them is installed."""

from PIL import ImageFile

from ensemble.errors import ImageError

MISSING_HEIF_MESSAGE = (
    "HEIC pictures cannot be read here: save it as JPEG or PNG, or install pillow-heif with this program."
)


def load_heif_opener() -> type[ImageFile.ImageFile]:
    """The class that opens a HEIC file, as Pillow's own classes open theirs.

    Raises:
      ImageError: pillow-heif is not installed, or not for this machine.
    """
    try:
        import pillow_heif
    except ImportError as error:
        raise ImageError(MISSING_HEIF_MESSAGE) from error
    return pillow_heif.HeifImageFile
