"""Which network addresses something that leaves this machine may go to."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import TypeAlias

Address: TypeAlias = IPv4Address | IPv6Address

_TRANSLATED = ip_network("64:ff9b::/96")
_UNFIT = (ip_network("64:ff9b:1::/48"), ip_network("2001::/32"), ip_network("2002::/16"), ip_network("fec0::/10"))
"""Tunnels and translations that carry any IPv4 address inside, and what once was site-local."""


def plain(address: str) -> Address:
    """Return an address as what is reached by it: an IPv4 one that is written as IPv6 is the IPv4 one.

    Raises ValueError for what is no address.
    """
    found = ip_address(address.partition("%")[0])
    if isinstance(found, IPv4Address):
        return found
    if found.ipv4_mapped is not None:
        return found.ipv4_mapped
    return IPv4Address(int(found) & 0xFFFFFFFF) if found in _TRANSLATED else found


def is_public(address: str) -> bool:
    """Whether an address is one of the internet: not private, loopback, link-local, shared, multicast or reserved."""
    found = plain(address)
    if isinstance(found, IPv6Address) and any(found in network for network in _UNFIT):
        return False
    return found.is_global and not (found.is_multicast or found.is_reserved or found.is_unspecified)


def is_loopback(address: str) -> bool:
    return plain(address).is_loopback
