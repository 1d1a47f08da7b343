"""Who may come to a shared server, and as what: addresses and domains, each with a role.

`ENSEMBLE_ALLOW` has them separated by commas, the file that `ENSEMBLE_ALLOW_FILE` names a line
each; that file is read again once it has changed. No list lets nobody in.
"""

import functools
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ensemble.access.owners import MAX_ADDRESS_LETTERS
from ensemble.access.people import Role
from ensemble.errors import ConfigError
from ensemble.storage.folders import expand_home_path

LIST_VARIABLE, _FILE_VARIABLE = "ENSEMBLE_ALLOW", "ENSEMBLE_ALLOW_FILE"
_ANYBODY = "*"
_ROLES = {role.name.lower(): role for role in (Role.VIEWER, Role.MEMBER, Role.ADMIN)}
EXAMPLE = "ann@example.org=admin,@example.org=viewer"
MAX_LIST_BYTES = 1_000_000
_NAME = re.compile(r"[a-z0-9.!#$%&'*+/?^_`{|}~-]{1,64}")
_LABEL = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")


@dataclass(frozen=True)
class _AllowList:
    """Who may come in, in the form that `normalize_address` gives.

    Attributes:
      addresses: the role of each address.
      domains: the role of whoever has an address at exactly this domain, unless it is named.
      anybody: the role of everybody else; `NOBODY` but where a proxy has let them in.
    """

    addresses: Mapping[str, Role] = field(default_factory=dict)
    domains: Mapping[str, Role] = field(default_factory=dict)
    anybody: Role = Role.NOBODY

    def __bool__(self) -> bool:
        return bool(self.addresses or self.domains or self.anybody)

    def role_of(self, address: str) -> Role:
        """The role of who has this address; the entry that says most of it holds."""
        if not (plain_address := normalize_address(address)):
            return Role.NOBODY
        domain = plain_address.rpartition("@")[2]
        return self.addresses.get(plain_address, self.domains.get(domain, self.anybody))


def normalize_address(address: str) -> str:
    """An address in small letters, its domain as DNS has it; "" if it is not plainly one.

    Letters that only look like others, or become others when they are simplified, make another
    address or none.
    """
    name, _, domain = address.strip().rpartition("@")
    name, domain = name.lower() if name.isascii() else "", _normalize_domain(domain)
    full_address = f"{name}@{domain}"
    return full_address if _NAME.fullmatch(name) and domain and len(full_address) <= MAX_ADDRESS_LETTERS else ""


def parse_allow_list(text: str) -> _AllowList:
    """The list that a text spells out: `name@domain`, `@domain` or `*`, each with `=role` or not.

    Raises:
      ConfigError: an entry is none of these, or is there twice.
    """
    addresses: dict[str, Role] = {}
    domains: dict[str, Role] = {}
    anybody: dict[str, Role] = {}
    lines = (line.partition("#")[0] for line in text.splitlines())
    for entry in filter(None, (item.strip() for line in lines for item in line.split(","))):
        who, _, role_text = (part.strip() for part in entry.partition("="))
        role = _ROLES.get(role_text.lower() or "member")
        domain = _normalize_domain(who.removeprefix("*").removeprefix("@"))
        if role is None:
            raise ConfigError(
                f"“{entry:.80}” in {LIST_VARIABLE} has an unknown role: choose {', '.join(_ROLES)}, such as {EXAMPLE}."
            )
        if who == _ANYBODY:
            where, key = anybody, _ANYBODY
        elif who.startswith(("@", "*@")) and domain:
            where, key = domains, domain
        elif address := normalize_address(who):
            where, key = addresses, address
        else:
            raise ConfigError(f"“{entry:.80}” in {LIST_VARIABLE} is neither an address nor a domain: write {EXAMPLE}.")
        if where.get(key, role) is not role:
            raise ConfigError(f"“{who:.80}” has two roles in {LIST_VARIABLE}: keep one of them.")
        where[key] = role
    return _AllowList(addresses, domains, anybody.get(_ANYBODY, Role.NOBODY))


def load_allow_list() -> _AllowList:
    """The list as it is now, of both the variable and the file.

    Raises:
      ConfigError: an entry is amiss, or the file cannot be read.
    """
    text, path = os.environ.get(LIST_VARIABLE, ""), os.environ.get(_FILE_VARIABLE, "")
    if not path:
        return _parse_variable(text)
    try:
        path = str(expand_home_path(path))
        file_status = Path(path).stat()
        return _parse_variable_and_file(text, path, (file_status.st_mtime_ns, file_status.st_size, file_status.st_ino))
    except (OSError, ValueError) as error:
        raise ConfigError(
            f"The list that {_FILE_VARIABLE} names, {path:.200}, cannot be read ({error}): "
            "nobody can sign in until it can be read."
        ) from error


def has_allow_list() -> bool:
    """Whether a list is spelt out or named, be it empty."""
    return bool(os.environ.get(LIST_VARIABLE, "").strip() or os.environ.get(_FILE_VARIABLE))


@functools.lru_cache(maxsize=8)
def _parse_variable(text: str) -> _AllowList:
    return parse_allow_list(text)


@functools.lru_cache(maxsize=2)
def _parse_variable_and_file(text: str, path: str, version: tuple[int, int, int]) -> _AllowList:
    with Path(path).open("rb") as file:
        content = file.read(MAX_LIST_BYTES + 1)
    if len(content) > MAX_LIST_BYTES:  # What stands behind an address would be cut off: its role.
        raise ValueError(f"it is longer than {MAX_LIST_BYTES:,} bytes")
    return parse_allow_list(f"{text}\n{content.decode('utf-8')}")


def _normalize_domain(domain: str) -> str:
    """A domain as DNS has it, in small letters; "" if it is none."""
    labels = []
    for part in domain.split("."):
        label = part.lower()
        if label.isascii() and not part.isascii():
            return ""  # The sign of Kelvin becomes a k.
        try:
            encoded = label if label.isascii() else label.encode("idna").decode("ascii")
            # What simplifying changes is no name of its own: a wide letter becomes a plain one.
            if not label.isascii() and encoded.encode("ascii").decode("idna") != label:
                return ""
        except UnicodeError:
            return ""
        if not _LABEL.fullmatch(encoded):
            return ""
        labels.append(encoded)
    return ".".join(labels)
