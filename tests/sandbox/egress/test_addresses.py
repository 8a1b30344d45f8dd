"""Which hosts and addresses may be reached."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omni.sandbox.egress.addresses import Address, check_host, resolve
from omni.sandbox.egress.errors import Forbidden, Unreachable
from omni.sandbox.egress.target import follow, is_listed, parse_url

pytestmark = pytest.mark.req("TOOL-10")

PUBLIC = "93.184.216.34"


@pytest.mark.parametrize(
    ("written", "normal"),
    [
        ("Example.ORG", "example.org"),
        ("a-b.example", "a-b.example"),
        ("r3---sn-x.example", "r3---sn-x.example"),
        ("bücher.example", "xn--bcher-kva.example"),
        ("xn--bcher-kva.example", "xn--bcher-kva.example"),
        ("93.184.216.34", "93.184.216.34"),
        ("[2606:2800:220:1::1]", "2606:2800:220:1::1"),
        ("2606:2800:0220:0001::1", "2606:2800:220:1::1"),
    ],
)
def test_a_host_has_one_spelling(written: str, normal: str) -> None:
    assert check_host(written) == normal


@pytest.mark.parametrize(
    "name",
    [
        "", ".", "a..b", "example.org.", "-a.example", "a-.example", "a_b.example", "a b", "a\x00b",
        "127.1", "0x7f.1", "0x7f000001", "2130706433", "017700000001", "127.0.0.01", "010.0.0.1",
        "256.1.1.1", "1.2.3.4.5", "example.0x1", "1.2.3.4.", "１２７.0.0.1", "127。0。0。1",
        "①.example", "127.0.0.1%00.example", "example.org:80", "user@example.org", "[::1",
        "::1%lo", "fe80::1%eth0", "[127.0.0.1]", "xn--a.example", "exa\u200bmple.org",
        "exam\u00adple.org", "a" * 64 + ".example", "a." * 127 + "example", "ｅxample.org",
        "\ud800.example", "example.org\n", "example\t.org",
    ],
)  # fmt: skip
def test_a_host_that_two_readers_understand_differently_is_refused(name: str) -> None:
    with pytest.raises(Forbidden):
        check_host(name)


@given(st.text(max_size=80))
def test_any_text_is_a_host_or_refused(text: str) -> None:
    try:
        host = check_host(text)
    except Forbidden:
        return
    assert check_host(host) == host
    assert host.isascii()


@pytest.mark.parametrize(
    "ip",
    [
        "0.0.0.0", "10.1.2.3", "100.64.0.1", "100.100.100.200", "127.0.0.1", "127.255.255.254",
        "168.63.129.16", "169.254.169.254", "172.16.0.1", "172.31.255.255", "192.0.0.192",
        "192.0.2.1", "192.88.99.1", "192.168.1.1", "198.18.0.1", "198.19.255.255", "198.51.100.1",
        "203.0.113.1", "224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255",
        "::", "::1", "::7f00:1", "::ffff:127.0.0.1", "::ffff:8.8.8.8", "64:ff9b::7f00:1",
        "64:ff9b:1::1", "100::1", "2001::1", "2001:0:7f00:1::", "2001:2::1", "2001:db8::1",
        "2002:7f00:1::", "3fff::1", "5f00::1", "fc00::1", "fd00:ec2::254", "fe80::1", "fec0::1",
        "ff02::1", "4000::1", "::ffff:0:127.0.0.1",
    ],
)  # fmt: skip
def test_addresses_that_are_not_public_are_forbidden(ip: str) -> None:
    with pytest.raises(Forbidden):
        resolve("example.org", 443, lookup=lambda host, port: [ip])
    with pytest.raises(Forbidden):
        resolve(ip, 443)


@pytest.mark.parametrize("ip", ["8.8.8.8", PUBLIC, "172.15.0.1", "172.32.0.1", "2606:4700::1111"])
def test_public_addresses_are_reached(ip: str) -> None:
    assert resolve(ip, 443) == [Address(ip, 443)]
    assert resolve("example.org", 443, lookup=lambda host, port: [ip, ip]) == [Address(ip, 443)]


def test_one_forbidden_address_forbids_the_host() -> None:
    """A name that sometimes means the inside is not trusted with the outside either."""
    with pytest.raises(Forbidden):
        resolve("example.org", 443, lookup=lambda host, port: [PUBLIC, "127.0.0.1"])


@pytest.mark.parametrize("answers", [[], ["not an address"], ["127.0.0.1.example"]])
def test_a_resolver_without_a_proper_answer(answers: list[str]) -> None:
    with pytest.raises(Unreachable):
        resolve("example.org", 443, lookup=lambda host, port: answers)


def test_a_name_that_does_not_exist() -> None:
    with pytest.raises(Unreachable):
        resolve("nowhere.invalid", 443)


def test_an_operator_opens_one_place() -> None:
    opened = frozenset({"127.0.0.1:8080", "[::1]:8080"})
    assert resolve("127.0.0.1", 8080, allow_private=opened) == [Address("127.0.0.1", 8080)]
    assert resolve("::1", 8080, allow_private=opened) == [Address("::1", 8080)]
    for host, port in (("127.0.0.1", 8081), ("127.0.0.2", 8080), ("localhost", 8080)):
        with pytest.raises(Forbidden):
            resolve(host, port, allow_private=opened)


@pytest.mark.parametrize(
    "url",
    [
        "ftp://example.org/", "file:///etc/passwd", "//example.org/", "http:example.org", "http://",
        "http:///x", "http://user@example.org/", "http://a:b@example.org/", "http://example.org:0/",
        "http://example.org:99999/", "http://example.org:80a/", "http://example.org\\@evil.example/",
        "http://example.org%2eevil.example/", "http://[::1", "http://exa mple.org/",
        "http://example.org/\r\nX: y", "http://example.org/\x00", "javascript:alert(1)", "",
        "http://example.org:80:80/", "http://[::1]evil.example/", "http://" + "a" * 20_000,
    ],
)  # fmt: skip
def test_addresses_that_readers_understand_differently_are_refused(url: str) -> None:
    with pytest.raises(Forbidden):
        parse_url(url)


def test_an_address_is_taken_apart_once() -> None:
    target = parse_url("HTTPS://Bücher.Example:8443/a b".replace(" ", "%20") + "?q=ü&r=%2F#part")
    assert target.origin == ("https", "xn--bcher-kva.example", 8443)
    assert target.path == "/a%20b?q=%C3%BC&r=%2F"
    assert target.authority == "xn--bcher-kva.example:8443"
    assert parse_url("http://[::1]:80").url == "http://[::1]/"


@pytest.mark.parametrize(
    ("location", "url"),
    [
        (b"/x", "https://example.org/x"),
        (b"?q=1", "https://example.org/a/b?q=1"),
        (b"c", "https://example.org/a/c"),
        (b"//other.example/x", "https://other.example/x"),
        (b"https://other.example", "https://other.example/"),
        (b"/\xc3\xbc x", "https://example.org/%C3%BC%20x"),
    ],
)
def test_redirects_are_understood(location: bytes, url: str) -> None:
    assert follow(parse_url("https://example.org/a/b"), location).url == url


@pytest.mark.parametrize(
    "location",
    [b"file:///etc/passwd", b"//user@evil.example/", b"https://[::1", b"gopher://x/", b"//127.1/"],
)
def test_redirects_to_no_proper_address_are_refused(location: bytes) -> None:
    with pytest.raises(Forbidden):
        follow(parse_url("https://example.org/"), location)


def test_hosts_are_listed_by_name_with_their_subdomains_or_with_a_port() -> None:
    hosts = frozenset({"example.org", "*.example.net", "example.com:22"})
    listed = {
        url: is_listed(parse_url(url), hosts)
        for url in (
            "https://example.org/", "http://example.org:8080/", "https://www.example.org/",
            "https://a.b.example.net/", "https://example.net/", "https://notexample.org/",
            "http://example.org:25/", "http://example.com:22/", "https://example.com/",
        )
    }  # fmt: skip
    assert list(listed.values()) == [True, True, False, True, False, False, False, True, False]
