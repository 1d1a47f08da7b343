"""Who could reach a server as it is started, and whether it asks them who they are.

A server that others could reach begins only where sign-in is configured, or where its owner says
that a proxy in front of it guards it.
"""

import ipaddress
import os
from dataclasses import dataclass
from enum import Enum

from ensemble.access import allow_list, visitor_claims
from ensemble.errors import ConfigError

_OPEN_VARIABLE, SHARE_VARIABLE = "ENSEMBLE_OPEN", "ENSEMBLE_SHARE"
SIGN_IN_ADVICE = (
    "configure sign-in (a provider under [auth] in .streamlit/secrets.toml, and "
    f"{allow_list.LIST_VARIABLE} for who may sign in: docs/serving.md), or set "
    f"{_OPEN_VARIABLE}=1 if a proxy in front of it checks who signs in"
)
_PRIVATE_ADVICE = "or serve this machine only, with --server.address localhost"


class AccessMode(Enum):
    """How a server knows who asks.

    `ALONE`: nobody but this machine reaches it. `SIGN_IN`: a provider tells. `PROXY`: a proxy
    guards it and tells in a header. `_OPEN_VARIABLE`: a proxy guards it and tells nothing; whoever
    it lets through may do everything.
    """

    ALONE = "alone"
    SIGN_IN = "sign-in"
    PROXY = "proxy"
    OPEN = "open"


@dataclass(frozen=True)
class ServerStart:
    """How a server is being started.

    Attributes:
      address: that it is to listen on; "" for all there are.
      provider: whether there is anything under [auth] in its secrets.
      missing: what a provider still needs, in words; "" if it is whole.
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
    def foreign_host(self) -> str:
        """A name it answers to that others come by, through a proxy on this machine; "" if none."""
        return next((host for host in self.hosts if not is_local_host(host)), "")


def determine_access_mode(start: ServerStart) -> AccessMode:
    """How a server that is started so knows who asks.

    Raises:
      ConfigError: others could reach it, and it would not know them; it says what to do.
    """
    listed = allow_list.load_allow_list()
    visitor_claims.read_sign_in_seconds()
    if _is_proxy_guarded():
        return _determine_proxy_mode(start, bool(listed))
    if start.headers:
        raise ConfigError(
            f"Anybody can send a header: server.trustedUserHeaders are trusted only with {_OPEN_VARIABLE}=1, "
            "which declares that a proxy in front of this server sets them itself."
        )
    here = is_loopback_address(start.address) and os.environ.get(SHARE_VARIABLE, "0") in ("", "0")
    if here and not start.foreign_host and not start.provider and not allow_list.has_allow_list():
        return AccessMode.ALONE
    if start.missing or not listed:
        lacks = " and ".join(filter(None, [start.missing, "" if listed else allow_list.LIST_VARIABLE]))
        raise ConfigError(
            "This server does not start, because others could launch and delete here and it "
            f"lacks {lacks}: {SIGN_IN_ADVICE}{_describe_private_option(start)}."
        )
    if listed.anybody:
        raise ConfigError(
            f"“*” in {allow_list.LIST_VARIABLE} would admit anybody with any account: name "
            f"addresses or domains, such as {allow_list.EXAMPLE}."
        )
    return AccessMode.SIGN_IN


def _describe_private_option(start: ServerStart) -> str:
    """The end of a sentence: how nobody but this machine reaches a server."""
    if not is_loopback_address(start.address):
        return f", {_PRIVATE_ADVICE}"
    if start.foreign_host:
        return (
            f", or take {start.foreign_host:.80} out of server.allowedHosts: others can reach the server by that name"
        )
    return ""


def _determine_proxy_mode(start: ServerStart, listed: bool) -> AccessMode:
    if start.header:
        if not listed:
            raise ConfigError(
                f"The proxy's header {start.header:.80} says who signs in, but not what they "
                f"may do: set {allow_list.LIST_VARIABLE}, to *=member for example."
            )
        return AccessMode.PROXY
    if start.headers:
        raise ConfigError(
            "None of server.trustedUserHeaders is called email: map the proxy's header to it, "
            'as in \'{"X-Forwarded-Email": "email"}\'.'
        )
    if not allow_list.has_allow_list():
        return AccessMode.OPEN
    if listed and not start.missing:
        return AccessMode.SIGN_IN
    raise ConfigError(
        f"{allow_list.LIST_VARIABLE} says who may sign in, but nothing identifies visitors: "
        "name the proxy's header in server.trustedUserHeaders, or configure a provider (docs/serving.md)."
    )


def _is_proxy_guarded() -> bool:
    return os.environ.get(_OPEN_VARIABLE) == "1"


def is_local_host(host: str) -> bool:
    """Whether a name that a browser asks for leads to the browser's own machine."""
    name = host.strip().lower().rstrip(".")
    return is_loopback_address(name) or name.endswith(".localhost")


def is_loopback_address(address: str) -> bool:
    """Whether only this machine reaches a server that listens on this address."""
    if address.startswith("unix://") or address.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(address.strip("[]")).is_loopback
    except ValueError:
        return False  # "" is every address, and a name may be any.
