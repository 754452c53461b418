"""Where a request may go: names are resolved here, and only addresses that were checked are connected to.

A page can link or redirect to services on this machine or in its network (server-side request forgery), and a name can
resolve to another address the second time. So a name is resolved once per connection, and the connection goes to the
address that was checked.
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket

from atlas.core.fetching import LOCAL_NAMES

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

TRANSLATED = ipaddress.ip_network("64:ff9b::/96")
"""IPv6 addresses that contain an IPv4 address (RFC 6052)."""


async def resolve(host: str, port: int) -> list[Address]:
    """Return the addresses of a host, in the order of preference. Raises OSError."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(ipaddress.ip_address(str(entry[4][0]).partition("%")[0]) for entry in found))


def is_private(address: Address) -> bool:
    """Return whether an address is loopback, private, link-local, reserved or multicast."""
    address = _embedded(address)
    return not address.is_global or address.is_multicast or address.is_reserved


def may_be_this_machine(host: str) -> bool:
    """Return whether a host can mean this machine: an address, or a name that the public DNS does not have.

    A name of the public DNS that leads to loopback or link-local addresses is an attempt to have this machine ask
    itself (DNS rebinding), while companies do have names in it for their own networks.
    """
    try:
        ipaddress.ip_address(host)
    except ValueError:
        label = host.rstrip(".").rpartition(".")[2].lower()
        # 127.1 and 0x7f.1 are addresses, too
        return "." not in host.rstrip(".") or label in LOCAL_NAMES or label[:1].isdecimal()
    return True


def is_this_machine(address: Address) -> bool:
    """Return whether an address is one of this machine or of its link, such as the one of a cloud's metadata."""
    address = _embedded(address)
    return address.is_loopback or address.is_link_local or address.is_unspecified


def _embedded(address: Address) -> Address:
    """Return the IPv4 address that an IPv6 address stands for, if it does."""
    if isinstance(address, ipaddress.IPv6Address):
        if address.ipv4_mapped:
            return address.ipv4_mapped
        if address.sixtofour:
            return address.sixtofour
        if address in TRANSLATED:
            return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return address
