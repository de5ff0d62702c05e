from __future__ import annotations

import pytest

from memoryreview.core.addresses import is_loopback, is_public


@pytest.mark.parametrize(
    "address", ["93.184.215.14", "2606:2800:21f:cb07::1", "::ffff:93.184.215.14", "64:ff9b::5db8:d70e"]
)
def test_address_of_the_internet_is_public(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize(
    "address",
    [
        *("127.0.0.1", "127.8.8.8", "::1", "::ffff:127.0.0.1", "64:ff9b::7f00:1", "64:ff9b:1::1", "0.0.0.0", "::"),
        *("10.0.0.1", "172.16.0.1", "192.168.1.1", "100.64.0.1", "169.254.169.254", "fe80::1%eth0", "fd00::1"),
        *("fec0::1", "2002:7f00:1::", "2001:0:4136:e378:8000:63bf:3fff:fdd2", "224.0.0.1", "ff02::1", "240.0.0.1"),
        *("255.255.255.255", "192.0.2.1", "198.18.0.1", "2001:db8::1"),
    ],
)
def test_address_of_a_private_network_is_not(address: str) -> None:
    assert not is_public(address)


def test_loopback_is_told_from_its_neighbours() -> None:
    assert is_loopback("127.0.0.9")
    assert is_loopback("::ffff:127.0.0.1")
    assert not is_loopback("128.0.0.1")
    assert not is_loopback("10.0.0.1")


def test_what_is_no_address_is_an_error() -> None:
    with pytest.raises(ValueError, match="does not appear"):
        is_public("localhost")
