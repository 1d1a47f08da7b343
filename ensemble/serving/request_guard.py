"""Who may ask: by the name that the server is asked by, the page that asks, and the token."""

import hmac
import os
import secrets
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from starlette.datastructures import Headers

from ensemble.access.server_access import is_local_host, is_loopback_address
from ensemble.errors import ConfigError
from ensemble.serving.request_errors import RequestError
from ensemble.storage.plain_files import read_limited_bytes

TOKEN_VARIABLE = "ENSEMBLE_TOKEN"
_MIN_TOKEN_LENGTH, _MAX_TOKEN_LENGTH = 16, 512
_OPEN_PATH = "/health"  # says that the server lives, to anybody


@dataclass(frozen=True)
class RequestGuard:
    """What every request is checked by.

    Attributes:
      token: that each has to bring; "" for none.
      hosts: the names that the server is asked by, beside those of this machine; none for any name
        where a token is asked for, and else for those of this machine alone.
    """

    token: str
    hosts: tuple[str, ...] = ()

    def check_request(self, path: str, headers: Headers) -> None:
        """Let a request pass.

        Raises:
          RequestError: the server is not called so, another site's page asks, or the token is not
            right.
        """
        if path == _OPEN_PATH:
            return
        host = headers.get("host", "")
        if not self.is_host_allowed(read_host_name(host)):
            raise RequestError(
                400, "This server is not called so: ask it as localhost, or start it with --allowed-host and the name."
            )
        origin = headers.get("origin")
        if origin is not None and not _is_same_host(origin, host):
            raise RequestError(403, "Pages of other sites get no answer: ask from a program.")
        if self.token and not self.is_token_right(headers.get("authorization", "")):
            raise RequestError(
                401,
                "The token is missing or wrong: send the header “Authorization: Bearer TOKEN”.",
                {"WWW-Authenticate": "Bearer"},
            )

    def is_host_allowed(self, name: str) -> bool:
        """Whether the server may be asked by this name."""
        if not name:
            return False
        if is_local_host(name) or name in self.hosts:
            return True
        return bool(self.token) and not self.hosts

    def is_token_right(self, authorization: str) -> bool:
        """Whether a header brings the token; compared in a time that says nothing of it."""
        scheme, _, sent = authorization.partition(" ")
        right = hmac.compare_digest(sent.strip().encode("utf-8", "replace"), self.token.encode())
        return right and scheme.lower() == "bearer"


def read_host_name(host: str) -> str:
    """The name in a Host header, in small letters; "" where it is none."""
    try:
        return (urlsplit(f"//{host}").hostname or "").rstrip(".")
    except ValueError:
        return ""


def _is_same_host(origin: str, host: str) -> bool:
    try:
        return bool(host) and urlsplit(origin).netloc.lower() == host.lower()
    except ValueError:
        return False


def build_request_guard(address: str, hosts: tuple[str, ...], token_file: Path | None) -> tuple[RequestGuard, bool]:
    """The guard of a server that listens on an address, and whether its token was made for it.

    A token comes from the file, else from ENSEMBLE_TOKEN; else one is made where others could reach
    the server.

    Args:
      address: that it listens on.
      hosts: further names that it is asked by.
      token_file: where the token stands; None for nowhere.

    Raises:
      ConfigError: the token cannot be read, or is too short to keep anybody out.
    """
    names = tuple(name.strip().lower().rstrip(".") for name in hosts)
    token = _read_token(token_file)
    if token:
        return RequestGuard(token, names), False
    if is_loopback_address(address) and all(map(is_local_host, names)):
        return RequestGuard("", names), False
    return RequestGuard(secrets.token_urlsafe(32), names), True


def _read_token(token_file: Path | None) -> str:
    """The token that was given; "" for none.

    Raises:
      ConfigError: its file cannot be read, or it is no token.
    """
    if token_file is None:
        place, token = TOKEN_VARIABLE, os.environ.get(TOKEN_VARIABLE, "").strip()
        if not token:
            return ""
    else:
        place = str(token_file)
        try:
            token = read_limited_bytes(token_file, _MAX_TOKEN_LENGTH + 2).decode().strip()
        except (OSError, ValueError) as error:
            raise ConfigError(f"The token cannot be read from {place} ({error}): give a file with one line.") from error
    if not _MIN_TOKEN_LENGTH <= len(token) <= _MAX_TOKEN_LENGTH or not token.isascii():
        raise ConfigError(
            f"The token in {place} has {len(token):,} characters: give {_MIN_TOKEN_LENGTH} to "
            f"{_MAX_TOKEN_LENGTH} letters and digits that nobody guesses."
        )
    if any(character.isspace() or not character.isprintable() for character in token):
        raise ConfigError(f"The token in {place} has blanks in it: give one word.")
    return token
