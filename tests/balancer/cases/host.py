"""Host: there is exactly one, and its value is an authority without a user."""

from __future__ import annotations

from tests.balancer.cases.case import HOST, accepted, get, head, refused

_HOST = "RFC 9112, 3.2"
_FIELD = "RFC 9110, 7.2"
_URI = "RFC 3986, 3.2.2"

CASES = [
    accepted("lower case", "RFC 9110, 5.1", "Names ignore case.", get(b"host: a.org")),
    accepted("strange case", "RFC 9110, 5.1", "Names ignore case.", get(b"hOsT: a.org")),
    accepted("no space", "RFC 9112, 5", "It is optional.", get(b"Host:a.org")),
    accepted("much space", "RFC 9112, 5", "It is not part of the value.", get(b"Host: \t a.org \t")),
    accepted("not the first field", _FIELD, "That is only advice.", get(b"A: b", HOST)),
    accepted("port", "RFC 3986, 3.2.3", "Digits may follow.", get(b"Host: a.org:8080")),
    accepted("empty port", "RFC 3986, 3.2.3", "Digits may be none.", get(b"Host: a.org:")),
    accepted("IPv4", _URI, "An address.", get(b"Host: 127.0.0.1")),
    accepted("IPv6", _URI, "An address in brackets.", get(b"Host: [2001:db8::1]")),
    accepted("IPv6 and port", _URI, "A port behind the bracket.", get(b"Host: [::1]:80")),
    accepted("IPv4 in IPv6", _URI, "The last 32 bits may be dotted.", get(b"Host: [::ffff:1.2.3.4]")),
    accepted("underscore", _URI, "Reg-names have more than DNS.", get(b"Host: my_app.internal")),
    accepted("percent encoding", _URI, "Reg-names may have it.", get(b"Host: %C3%A9.org")),
    accepted("final dot", _URI, "The root of DNS.", get(b"Host: a.org.")),
    accepted("sub-delims", _URI, "Reg-names may have them.", get(b"Host: a!$&'()*+;=b")),
    accepted(
        "bad host named elsewhere", _HOST, "X-Host is another field.", get(HOST, b"X-Host: a b"),
    ),
    refused("none", _HOST, "HTTP/1.1 requires one.", get(b"A: b")),
    refused("none at all", _HOST, "HTTP/1.1 requires one.", get()),
    refused("two", _HOST, "Which one routes?", get(HOST, b"Host: b.org")),
    refused("the same twice", _HOST, "More than one.", get(HOST, HOST)),
    refused("two in other case", _HOST, "Names ignore case.", get(HOST, b"HOST: b.org")),
    refused("two in HTTP/1.0", _HOST, "Any request message.", head(b"GET / HTTP/1.0", HOST, HOST)),
    refused("empty", "RFC 9110, 4.2.1", "An http URI has a host.", get(b"Host:")),
    refused("only blanks", "RFC 9110, 4.2.1", "An http URI has a host.", get(b"Host: \t ")),
    refused("first empty, then good", _HOST, "More than one.", get(b"Host:", HOST)),
    refused("list", _FIELD, "Not a list.", get(b"Host: a.org, b.org")),
    refused("list without a blank", _FIELD, "Readers that join fields see two.", get(b"Host: a.org,b.org")),
    refused("two words", _FIELD, "No blanks in an authority.", get(b"Host: a.org b.org")),
    refused("tab inside", _FIELD, "No blanks in an authority.", get(b"Host: a.org\tb.org")),
    refused("path", _FIELD, "Only host and port.", get(b"Host: a.org/x")),
    refused("query", _FIELD, "Only host and port.", get(b"Host: a.org?x")),
    refused("fragment", _FIELD, "Only host and port.", get(b"Host: a.org#x")),
    refused("user", _FIELD, "Only host and port.", get(b"Host: b.org@a.org")),
    refused("scheme", _FIELD, "Only host and port.", get(b"Host: http://a.org")),
    refused("quotes", _FIELD, "No quoted string.", get(b'Host: "a.org"')),
    refused("backslash", _URI, "A slash to some.", get(b"Host: a.org\\b.org")),
    refused("letters for a port", "RFC 3986, 3.2.3", "Digits.", get(b"Host: a.org:http")),
    refused("signed port", "RFC 3986, 3.2.3", "Digits.", get(b"Host: a.org:+80")),
    refused("two ports", "RFC 3986, 3.2.3", "One.", get(b"Host: a.org:80:81")),
    refused("endless port", "RFC 3986, 3.2.3", "No port has six digits.", get(b"Host: a.org:000080")),
    refused("only a port", "RFC 9110, 4.2.1", "A host is first.", get(b"Host: :80")),
    refused("IPv6 without brackets", _URI, "Where does the port begin?", get(b"Host: 2001:db8::1")),
    refused("open bracket", _URI, "Brackets come in pairs.", get(b"Host: [::1")),
    refused("IPv4 in brackets", _URI, "Only IPv6 has them.", get(b"Host: [127.0.0.1]")),
    refused("three colons", _URI, "No IPv6 address.", get(b"Host: [:::1]")),
    refused("nine groups", _URI, "No IPv6 address.", get(b"Host: [1:2:3:4:5:6:7:8:9]")),
    refused("zone", "RFC 9110, 4.2.1", "It means something on one machine only.", get(b"Host: [fe80::1%25eth0]")),
    refused("text behind the bracket", _URI, "Only a port.", get(b"Host: [::1]a.org")),
    refused("bad percent encoding", "RFC 3986, 2.1", "Two hexadecimal digits.", get(b"Host: a%2.org")),
    refused("beyond ASCII", "RFC 3986, 2", "URIs are ASCII.", get("Host: é.org".encode())),
    refused("NUL", "RFC 9110, 5.5", "A C string ends there.", get(b"Host: a.org\0.b.org")),
    refused("space before the colon", "RFC 9112, 5.1", "Some drop the field, some the blank.", get(b"Host : a.org")),
    refused("folded", "RFC 9112, 5.2", "Obsolete, and read in three ways.", get(b"Host:", b" a.org")),
    refused("bad in HTTP/1.0", _HOST, "Any request message.", head(b"GET / HTTP/1.0", b"Host: a b")),
]  # fmt: skip
