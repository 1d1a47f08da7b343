"""Who could reach a server as it is started, and whether it asks them who they are.

A server that others could reach begins only where sign-in is configured, or where its owner says
that a proxy in front of it guards it.
"""

import ipaddress
import os
from dataclasses import dataclass
from enum import Enum

from ensemble.access import allow_list, claims
from ensemble.errors import ConfigError

OPEN, SHARE = "ENSEMBLE_OPEN", "ENSEMBLE_SHARE"
HOW = (
    "configure sign-in (a provider under [auth] in .streamlit/secrets.toml, and "
    f"{allow_list.LIST} for who may come in: docs/serving.md), or set {OPEN}=1 if a proxy in front "
    "of it guards it"
)
PRIVATE = "or keep it to this machine with --server.address localhost"


class Sharing(Enum):
    """How a server knows who asks.

    `ALONE`: nobody but this machine reaches it. `SIGN_IN`: a provider tells. `PROXY`: a proxy
    guards it and tells in a header. `OPEN`: a proxy guards it and tells nothing; whoever it lets
    through may do everything.
    """

    ALONE = "alone"
    SIGN_IN = "sign-in"
    PROXY = "proxy"
    OPEN = "open"


@dataclass(frozen=True)
class Start:
    """How a server is being started.

    Attributes:
      address: that it is to listen on; "" for all there are.
      provider: whether there is anything under [auth] in its secrets.
      missing: what a provider still needs, in words; "" where it is whole.
      header: of the trusted ones the one with the visitor's address; "" for none.
      headers: whether any are trusted.
      hosts: the names that it answers to, `server.allowedHosts`; none for all.
    """

    address: str
    provider: bool = False
    missing: str = "a provider"
    header: str = ""
    headers: bool = False
    hosts: tuple[str, ...] = ()

    @property
    def of_others(self) -> str:
        """A name it answers to that others come by, through a proxy on this machine; "" if none."""
        return next((one for one in self.hosts if not is_here(one)), "")


def settle(start: Start) -> Sharing:
    """How a server that is started so knows who asks.

    Raises:
      ConfigError: others could reach it, and it would not know them; it says what to do.
    """
    listed = allow_list.read()
    claims.longest()
    if is_open():
        return _guarded(start, bool(listed))
    if start.headers:
        raise ConfigError(
            "Anybody can send a header: server.trustedUserHeaders are believed only with "
            f"{OPEN}=1, which says that a proxy in front of this server sets them itself."
        )
    here = is_loopback(start.address) and os.environ.get(SHARE, "0") in ("", "0")
    if here and not start.of_others and not start.provider and not allow_list.is_given():
        return Sharing.ALONE
    if start.missing or not listed:
        lacks = " and ".join(filter(None, [start.missing, "" if listed else allow_list.LIST]))
        raise ConfigError(
            "This server is not started, for others could launch and delete in it and it lacks "
            f"{lacks}: {HOW}{_privately(start)}."
        )
    if listed.anybody:
        raise ConfigError(
            f"“*” in {allow_list.LIST} would let in everybody who has an account anywhere: name "
            f"addresses or domains, such as {allow_list.EXAMPLE}."
        )
    return Sharing.SIGN_IN


def _privately(start: Start) -> str:
    """The end of a sentence: how nobody but this machine reaches a server."""
    if not is_loopback(start.address):
        return f", {PRIVATE}"
    if start.of_others:
        return f", or take {start.of_others:.80} out of server.allowedHosts: others come by that"
    return ""


def _guarded(start: Start, listed: bool) -> Sharing:
    if start.header:
        if not listed:
            raise ConfigError(
                f"The proxy's header {start.header:.80} tells who comes, but nothing says what "
                f"they may do: set {allow_list.LIST}, to *=member for example."
            )
        return Sharing.PROXY
    if start.headers:
        raise ConfigError(
            "None of server.trustedUserHeaders is called email: map the proxy's header so, as in "
            '\'{"X-Forwarded-Email": "email"}\'.'
        )
    if not allow_list.is_given():
        return Sharing.OPEN
    if listed and not start.missing:
        return Sharing.SIGN_IN
    raise ConfigError(
        f"{allow_list.LIST} says who may come in, but nothing tells who comes: name the proxy's "
        "header in server.trustedUserHeaders, or configure a provider (docs/serving.md)."
    )


def is_open() -> bool:
    """Whether its owner says that a proxy in front of the server guards it."""
    return os.environ.get(OPEN) == "1"


def is_here(host: str) -> bool:
    """Whether a name that a browser asks for leads to the browser's own machine."""
    name = host.strip().lower().rstrip(".")
    return is_loopback(name) or name.endswith(".localhost")


def is_loopback(address: str) -> bool:
    """Whether only this machine reaches a server that listens on this address."""
    if address.startswith("unix://") or address.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(address.strip("[]")).is_loopback
    except ValueError:
        return False  # "" is every address, and a name may be any.
