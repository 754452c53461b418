"""Addresses of servers: which ones mean this machine, and how messages show them. Pure."""

from __future__ import annotations

from ipaddress import ip_address


def is_loopback(host: str) -> bool:
    """Return whether a host name or address means this machine, without asking a name server."""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def masked(url: str) -> str:
    """Return an address with its password masked."""
    scheme, separator, rest = url.partition("://") if "://" in url else ("", "", url)
    user, at, place = rest.rpartition("@")
    if not at:
        return url
    name, colon, _ = user.partition(":")
    return f"{scheme}{separator}{name if colon else ''}{':' if colon else ''}***@{place}"
