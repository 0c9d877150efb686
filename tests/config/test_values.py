"""Addresses, sizes, times and port ranges as people write them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.config.values import (
    Address,
    check_networks,
    format_bytes,
    parse_address,
    parse_bytes,
    parse_ports,
    parse_seconds,
)

HOSTS = st.one_of(
    st.ip_addresses().map(str),
    st.from_regex(r"[a-z0-9]([a-z0-9.-]{0,20}[a-z0-9])?", fullmatch=True),
)


@given(host=HOSTS, port=st.integers(0, 65535))
def test_an_address_survives_its_text(host: str, port: int) -> None:
    """What an address prints is read as the same address."""
    address = Address(host, port)
    assert parse_address(str(address)) == address


@given(size=st.integers(0, 2**60))
def test_a_size_survives_its_text(size: int) -> None:
    """What a size prints is read as the same size."""
    assert parse_bytes(format_bytes(size)) == size


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("127.0.0.1:80", ("127.0.0.1", 80)),
        (":80", ("127.0.0.1", 80)),
        (80, ("127.0.0.1", 80)),
        ("*:80", ("0.0.0.0", 80)),
        ("[::1]:80", ("::1", 80)),
        ("example.org:0", ("example.org", 0)),
    ],
)
def test_short_forms_of_an_address(text: str | int, address: tuple[str, int]) -> None:
    """A missing host is loopback, a star is every interface."""
    assert parse_address(text) == address


@pytest.mark.parametrize(
    "text",
    [
        "",
        "host",
        "a:b",
        ":65536",
        ":-1",
        "::1:80",
        "[x]:80",
        "http://a:80",
        "a b:80",
        ":٣",
        ":080000",
    ],
)
def test_what_is_no_address(text: str) -> None:
    """A wrong address says what a right one looks like."""
    with pytest.raises(ValueError, match="HOST:PORT"):
        parse_address(text)


@pytest.mark.parametrize(
    ("host", "loopback"),
    [
        ("127.0.0.1", True),
        ("127.9.9.9", True),
        ("::1", True),
        ("localhost", True),
        ("0.0.0.0", False),
        ("::", False),
        ("127.example.org", False),
        ("10.0.0.1", False),
    ],
)
def test_loopback_is_only_this_machine(host: str, loopback: bool) -> None:
    """A name that merely begins like a loopback address is not one."""
    assert Address(host, 80).loopback is loopback


@pytest.mark.parametrize(
    ("one", "other", "clash"),
    [
        ("127.0.0.1:80", "127.0.0.1:80", True),
        ("127.0.0.1:80", "0.0.0.0:80", True),
        ("[::]:80", "127.0.0.1:80", True),
        ("127.0.0.1:80", "127.0.0.2:80", False),
        ("127.0.0.1:80", "127.0.0.1:81", False),
        ("127.0.0.1:0", "127.0.0.1:0", False),
    ],
)
def test_addresses_that_cannot_both_be_bound(one: str, other: str, clash: bool) -> None:
    """Addresses clash if port and interface are the same, or one is on every interface."""
    assert parse_address(one).clashes(parse_address(other)) is clash


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("0", 0),
        (12, 12),
        ("512K", 512 * 1024),
        ("64MiB", 64 * 2**20),
        ("1.5 gb", 3 * 2**29),
        ("2Ti", 2**41),
        ("7B", 7),
    ],
)
def test_sizes_with_units(text: str | int, size: int) -> None:
    """A K is 1024, with or without an i or a B after it."""
    assert parse_bytes(text) == size


@pytest.mark.parametrize("text", ["", "K", "-1", "1X", "5BB", "1e3", "1,5M", "true"])
def test_what_is_no_size(text: str) -> None:
    """A wrong size says what a right one looks like."""
    with pytest.raises(ValueError, match="64MiB"):
        parse_bytes(text)


@pytest.mark.parametrize(
    ("text", "seconds"), [("5", 5), ("0.5", 0.5), ("500ms", 0.5), ("2m", 120), ("1 h", 3600)]
)
def test_times_with_units(text: str, seconds: float) -> None:
    """A time without a unit is in seconds."""
    assert parse_seconds(text) == seconds


@pytest.mark.parametrize("text", ["", "-1", "nan", "inf", "5d", "1m30s"])
def test_what_is_no_time(text: str) -> None:
    """A wrong time says what a right one looks like."""
    with pytest.raises(ValueError, match="500ms"):
        parse_seconds(text)


@pytest.mark.parametrize("text", ["", "1", "1-", "-2", "a-b", "1-2-3"])
def test_what_is_no_port_range(text: str) -> None:
    """A wrong range says what a right one looks like."""
    with pytest.raises(ValueError, match="21000-29999"):
        parse_ports(text)


def test_networks() -> None:
    """Addresses and networks are accepted, but not a network with host bits outside its mask."""
    assert check_networks(("10.0.0.1", "10.0.0.0/8", "::1")) == (
        "10.0.0.1/32",
        "10.0.0.0/8",
        "::1/128",
    )
    for wrong in ("10.0.0.1/8", "example.org", "10.0.0.0/33", ""):
        with pytest.raises(ValueError):  # noqa: PT011 - the message is made elsewhere
            check_networks((wrong,))
