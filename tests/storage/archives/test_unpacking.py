"""Archives of people: what is whole comes out as it went in, what is hostile leaves nothing."""

import errno
import io
import shutil
import stat
import tracemalloc
import zipfile
from pathlib import Path

import numpy as np
import pytest

from ensemble.errors import DataError, StorageError
from ensemble.storage.archives import unpacking
from ensemble.storage.archives.archive_contents import ArchiveLimits
from ensemble.storage.archives.entry_names import parse_entry_path
from ensemble.storage.archives.unpacking import unpack_archive
from tests.storage.archives.hostile_zips import CENTRAL, FOLDER, overlapping, packed, rewritten, said_to_unpack_to

SMALL = ArchiveLimits(files=8, unpacked=100_000, file=50_000, contents=2000)


def files_in(folder: Path) -> dict[str, bytes]:
    """Every file below a folder, by its path from there."""
    found = [path for path in folder.rglob("*") if path.is_file()]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in found}


def refused(content: bytes, folder: Path, limits: ArchiveLimits = SMALL) -> str:
    """What is said of an archive that is not unpacked; nothing of it may be there."""
    with pytest.raises(DataError) as said:
        unpack_archive(io.BytesIO(content), folder / "fresh", limits)
    assert list(folder.rglob("*")) == []
    assert "\n" not in str(said.value)
    assert str(said.value).endswith(".")
    return str(said.value)


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_what_was_packed_comes_out(tmp_path: Path, method: int) -> None:
    (tmp_path / "a.zip").write_bytes(packed(method=method))
    shares: list[float | None] = []
    with (tmp_path / "a.zip").open("rb") as file:
        made = unpack_archive(file, tmp_path / "fresh", SMALL, lambda share, said: shares.append(share))
    assert files_in(tmp_path / "fresh") == FOLDER
    assert (made.files, made.nbytes) == (3, sum(map(len, FOLDER.values())))
    assert shares[-1] == 1.0
    assert stat.S_IMODE((tmp_path / "fresh").stat().st_mode) == 0o700


def test_what_the_systems_shell_packs_comes_out(tmp_path: Path) -> None:
    for name, content in FOLDER.items():
        (tmp_path / "images" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "images" / name).write_bytes(content)
    shutil.make_archive(str(tmp_path / "a"), "zip", tmp_path / "images", ".")
    with (tmp_path / "a.zip").open("rb") as file:
        unpack_archive(file, tmp_path / "fresh", SMALL)
    assert files_in(tmp_path / "fresh") == FOLDER


def test_a_systems_own_files_and_archives_within_stay_in_the_archive(tmp_path: Path) -> None:
    own = {
        "__MACOSX/cats/._1.png": b"x",
        "cats/.DS_Store": b"x",
        "dogs/Thumbs.db": b"x",
        "more.zip": packed(),
        "cats/x.tar": b"y",
    }
    made = unpack_archive(io.BytesIO(packed({**FOLDER, **own})), tmp_path / "fresh")
    assert files_in(tmp_path / "fresh") == FOLDER
    assert (made.skipped, made.nested) == (3, ("more.zip", "cats/x.tar"))


def test_names_in_utf8_that_does_not_say_so_are_read(tmp_path: Path) -> None:
    content = packed({"Rüben/1.png": b"x"})
    content = content.replace(b"\0\0\0\x08", b"\0\0\0\0")
    for at in (6, content.index(CENTRAL) + 8):  # the flag that says UTF-8
        content = content[:at] + b"\0\0" + content[at + 2 :]
    unpack_archive(io.BytesIO(content), tmp_path / "fresh")
    assert files_in(tmp_path / "fresh") == {"Rüben/1.png": b"x"}


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("../evil.png", "points outside it"),
        ("cats/../../evil.png", "points outside it"),
        ("/etc/evil.png", "is an absolute path"),
        ("C:/evil.png", "is an absolute path"),
        ("c:evil.png", "is an absolute path"),
        ("cats\\..\\evil.png", "backslash"),
        ("\\\\server\\share\\evil.png", "backslash"),
        ("cats/evil\n.png", "cannot be shown"),
        ("cats/evil\x1b[2J.png", "cannot be shown"),
        ("/".join("d" * 13) + "/evil.png", "12 folders deep"),
        ("cats/" + "evil" * 70 + ".png", "too long"),
    ],
)
def test_a_name_that_leads_elsewhere_is_refused_by_name(tmp_path: Path, name: str, said: str) -> None:
    told = refused(packed({"cats/1.png": b"x", name: b"evil"}), tmp_path)
    assert said in told
    assert "evil" in told or "d/d" in told


@pytest.mark.parametrize("others", [("cats/1.png/x.png",), ("cats",), ("./cats/1.png",), ("cats//1.png",)])
def test_two_names_for_one_file_are_refused(tmp_path: Path, others: tuple[str, ...]) -> None:
    told = refused(packed({"cats/1.png": b"x", **dict.fromkeys(others, b"y")}), tmp_path)
    assert "would be one: rename one of them" in told


SPELLINGS = [("Cats/1.png",), ("cats/1.PNG",), ("CATS/2.png",), ("dogs/e\u0301.png", "dogs/\xe9.png")]


@pytest.mark.parametrize("others", SPELLINGS)
def test_names_that_are_one_on_a_disk_that_ignores_case_are_refused_there(
    tmp_path: Path, others: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unpacking, "ignores_case", lambda folder: True)
    told = refused(packed({"cats/1.png": b"x", **dict.fromkeys(others, b"y")}), tmp_path)
    assert "ignores upper and lower case" in told


@pytest.mark.parametrize("others", SPELLINGS)
def test_a_disk_that_tells_case_apart_takes_them(tmp_path: Path, others: tuple[str, ...]) -> None:
    if unpacking.ignores_case(tmp_path):
        pytest.skip("this disk ignores case")
    files = {"cats/1.png": b"x", **dict.fromkeys(others, b"y")}
    unpack_archive(io.BytesIO(packed(files)), tmp_path / "fresh", SMALL)
    assert files_in(tmp_path / "fresh") == files


@pytest.mark.parametrize(
    ("mode", "said"),
    [(stat.S_IFLNK, "is a link"), (stat.S_IFIFO, "pipe"), (stat.S_IFCHR, "device"), (stat.S_IFSOCK, "pipe")],
)
def test_a_link_or_a_device_is_refused(tmp_path: Path, mode: int, said: str) -> None:
    told = refused(packed({"cats/evil.png": b"/etc/passwd"}, mode=mode | 0o777), tmp_path)
    assert said in told
    assert "cats/evil.png" in told


@pytest.mark.parametrize(
    ("at", "form", "value", "said"),
    [
        (8, "<H", 0x1, "encrypted"),
        (8, "<H", 0x40, "encrypted"),
        (10, "<H", 9, "an unsupported method (9)"),
        (10, "<H", zipfile.ZIP_LZMA, "an unsupported method (14)"),
        (20, "<L", 10**6, "shares its bytes"),  # packed: over the entries after it
        (24, "<L", 40_000, "damaged"),  # unpacked: more than there is
        (24, "<L", 5, "damaged"),  # and less
        (24, "<L", 60_000, "more than the"),
        (42, "<L", 0, "shares its bytes"),  # where it lies: on the first
        (16, "<L", 7, "damaged"),  # its checksum
    ],
)
def test_an_entry_that_lies_is_refused_by_name(tmp_path: Path, at: int, form: str, value: int, said: str) -> None:
    told = refused(rewritten(packed(), 1, at, form, value), tmp_path)
    assert said in told
    assert "cats/2.png" in told or "dogs/1.png" in told or "cats/1.png" in told


def test_the_last_entry_cannot_reach_beyond_the_archive(tmp_path: Path) -> None:
    assert "longer than" in refused(rewritten(packed(), 2, 20, "<L", 10**6), tmp_path)


def test_a_name_that_differs_in_its_two_places_is_refused(tmp_path: Path) -> None:
    content = packed()
    start = content.index(CENTRAL)
    content = content[:start] + content[start:].replace(b"cats/2.png", b"cats/9.png")
    assert "cats/9.png" in refused(content, tmp_path)


def test_a_bomb_of_entries_that_share_their_bytes_is_refused(tmp_path: Path) -> None:
    generous = ArchiveLimits()
    told = refused(overlapping(), tmp_path, generous)
    assert "cats/1.png" in told
    assert "shares its bytes" in told


def test_the_bound_is_on_the_sum_of_the_sizes(tmp_path: Path) -> None:
    four = {f"cats/{number}.png": bytes(30_000) for number in range(4)}
    assert "cats/3.png" in refused(packed(four), tmp_path)
    three = dict(list(four.items())[:3])  # packed a thousandfold, and fine
    assert unpack_archive(io.BytesIO(packed(three)), tmp_path / "fresh", SMALL).nbytes == 90_000


def test_a_file_larger_than_it_says_is_not_written_further(tmp_path: Path) -> None:
    assert "damaged" in refused(said_to_unpack_to(10), tmp_path)
    assert "damaged" in refused(said_to_unpack_to(2000), tmp_path)


def test_too_many_files_are_refused_before_their_list_is_parsed(tmp_path: Path) -> None:
    many = packed({f"cats/{number}.png": b"" for number in range(5000)}, zipfile.ZIP_STORED)
    tracemalloc.start()
    told = refused(many, tmp_path, ArchiveLimits(files=100))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert "more than 100 files" in told
    assert peak < 2 * len(many)  # parsed, each line would take half a kilobyte and more
    assert "list of contents" in refused(many, tmp_path, ArchiveLimits(files=10**6, contents=10_000))


@pytest.mark.parametrize("length", [0, 1, 30, 100, -1, -22, -30])
def test_a_cut_archive_is_no_archive(tmp_path: Path, length: int) -> None:
    assert "not a readable .zip" in refused(packed()[:length], tmp_path)
    (tmp_path / "a.zip").write_bytes(packed()[:length])
    with (tmp_path / "a.zip").open("rb") as file, pytest.raises(DataError):
        unpack_archive(file, tmp_path / "fresh")


def test_damage_anywhere_is_a_sentence_or_does_no_harm(tmp_path: Path) -> None:
    whole, random = packed(), np.random.default_rng(0)
    for number in range(150):
        content = bytearray(whole)
        for at in random.integers(0, len(whole), 1 + number % 3):
            content[at] = random.integers(256)
        try:
            unpack_archive(io.BytesIO(bytes(content)), tmp_path / "fresh", SMALL)
        except DataError:
            assert not list(tmp_path.iterdir())
        else:
            shutil.rmtree(tmp_path / "fresh")


def test_what_is_no_archive_of_files_says_so(tmp_path: Path) -> None:
    assert "holds no files" in refused(packed({}), tmp_path)
    assert "holds no files" in refused(packed({"cats/": b"", "__MACOSX/x": b"x"}), tmp_path)


def test_a_stop_or_a_full_disk_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(share: float | None, said: str) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        unpack_archive(io.BytesIO(packed()), tmp_path / "fresh", SMALL, stop)
    assert list(tmp_path.iterdir()) == []
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage._replace(free=1000))
    with pytest.raises(StorageError, match="ENSEMBLE_DATA"):
        unpack_archive(io.BytesIO(packed()), tmp_path / "fresh", SMALL)
    assert list(tmp_path.iterdir()) == []


def test_an_error_of_the_disk_stays_one(tmp_path: Path) -> None:
    class Worn(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            raise OSError(errno.EIO, "Input/output error")

    with pytest.raises(OSError, match="Input/output"):
        unpack_archive(Worn(packed()), tmp_path / "fresh")


@pytest.mark.parametrize("name", ["con/1.png", "cats/aux.png", "cats /1.png", "cats/a:b.png"])
def test_names_that_windows_knows_otherwise_are_refused_there(name: str) -> None:
    assert parse_entry_path(name, windows=False) == tuple(name.split("/"))
    with pytest.raises(DataError, match="Windows"):
        parse_entry_path(name, windows=True)


def test_every_sixty_fourth_file_and_the_last_are_reported(tmp_path: Path) -> None:
    told: list[str] = []
    content = packed({f"{number}.txt": b"x" for number in range(130)})
    limits = ArchiveLimits(files=130, unpacked=100_000, file=50_000, contents=100_000)
    unpack_archive(io.BytesIO(content), tmp_path / "fresh", limits, lambda _, text: told.append(text))
    assert told == [f"Unpacking: {count} files" for count in (1, 65, 129, 130)]
