"""Chunked bodies: sizes, extensions, and the line breaks between them."""

from __future__ import annotations

from tests.balancer.cases.case import broken, decoded

_CHUNK = "RFC 9112, 7.1"
_EXT = "RFC 9112, 7.1.1"
_LF = "RFC 9112, 2.2"
_END = b"\r\n0\r\n\r\n"


def _ext(name: str, why: str, ext: bytes):
    return decoded(name, _EXT, why, b"3" + ext + b"\r\nabc" + _END, b"abc")


def _size(name: str, why: str, size: bytes, section: str = _CHUNK):
    return broken(name, section, why, size + b"\r\nabc" + _END)


CASES = [
    decoded("nothing", _CHUNK, "The last chunk alone.", b"0\r\n\r\n", b""),
    decoded("one", _CHUNK, "The usual form.", b"3\r\nabc" + _END, b"abc"),
    decoded("two", _CHUNK, "They are joined.", b"3\r\nabc\r\n2\r\nde" + _END, b"abcde"),
    decoded("capital digit", _CHUNK, "HEXDIG.", b"A\r\n0123456789" + _END, b"0123456789"),
    decoded("small digit", _CHUNK, "Lower case is the same.", b"a\r\n0123456789" + _END, b"0123456789"),
    decoded("two digits", _CHUNK, "Sixteen.", b"10\r\n0123456789abcdef" + _END, b"0123456789abcdef"),
    decoded("leading zeros", _CHUNK, "1*HEXDIG.", b"0003\r\nabc" + _END, b"abc"),
    decoded("many zeros at the end", _CHUNK, "1*(\"0\").", b"3\r\nabc\r\n0000\r\n\r\n", b"abc"),
    decoded("line breaks for data", _CHUNK, "Counted, not looked at.", b"4\r\n\r\n\r\n" + _END, b"\r\n\r\n"),
    decoded("a last chunk for data", _CHUNK, "Counted, not looked at.", b"5\r\n0\r\n\r\n" + _END, b"0\r\n\r\n"),
    decoded("a bare LF for data", _CHUNK, "Data is opaque.", b"1\r\n\n" + _END, b"\n"),
    decoded("NUL for data", _CHUNK, "Data is opaque.", b"1\r\n\0" + _END, b"\0"),
    _ext("extension", "Ignored.", b";a"),
    _ext("extension with a value", "Ignored.", b";a=b"),
    _ext("extension with a quoted value", "Ignored.", b';a="b c"'),
    _ext("escaped quote", "It does not end the string.", b';a="b\\"c"'),
    _ext("semicolon in quotes", "It does not begin another.", b';a=";b"'),
    _ext("several extensions", "Ignored.", b";a;b=c;d"),
    _ext("blanks around", "Bad whitespace must be parsed.", b" ;\ta = b"),
    decoded("extension at the end", _EXT, "The last chunk may have one.", b"0;a=b\r\n\r\n", b""),
    decoded("extension like a size", _EXT, "Ignored.", b"3;7\r\nabc" + _END, b"abc"),
    _size("no size", "One digit at least.", b""),
    _size("no number", "HEXDIG.", b"x"),
    _size("plus", "HEXDIG.", b"+3"),
    _size("minus", "HEXDIG.", b"-3"),
    _size("0x", "HEXDIG.", b"0x3"),
    _size("underscore", "Python's int() takes it.", b"0_3"),
    _size("blank before", "HEXDIG.", b" 3"),
    _size("blank behind", "No BWS without an extension; some keep it.", b"3 "),
    _size("tab behind", "As above.", b"3\t"),
    _size("comma", "HEXDIG.", b"3,3"),
    _size("dot", "HEXDIG.", b"3.0"),
    _size("quotes", "HEXDIG.", b'"3"'),
    _size("letters behind", "C's strtol() stops there.", b"3g"),
    _size("NUL behind", "A C string ends there.", b"3\0"),
    _size("vertical tab behind", "A blank to some.", b"3\x0b"),
    _size("beyond ASCII", "HEXDIG.", "３".encode()),
    _size("2^64 + 3", "Recipients must prevent overflows.", b"10000000000000003"),
    _size("2^63", "Recipients must prevent overflows.", b"8000000000000000"),
    _size("minus one in two's complement", "Recipients must prevent overflows.", b"ffffffffffffffff"),
    _size("two thousand zeros", "A line has an end.", b"0" * 2000 + b"3"),
    broken("size too small", _CHUNK, "CR LF was due.", b"2\r\nabc" + _END),
    broken("size too large", _CHUNK, "CR LF was due.", b"4\r\nabc" + _END),
    broken("no CR LF behind data", _CHUNK, "Each chunk ends with one.", b"3\r\nabc0\r\n\r\n"),
    broken("two bytes for CR LF", _CHUNK, "Some skip two bytes, whatever they are.", b"3\r\nabcXX0\r\n\r\n"),
    broken("LF behind data", _LF, "CR LF was due.", b"3\r\nabc\n0\r\n\r\n"),
    broken("CR behind data", _LF, "CR LF was due.", b"3\r\nabc\r0\r\n\r\n"),
    broken("LF CR behind data", _LF, "CR LF was due.", b"3\r\nabc\n\r0\r\n\r\n"),
    broken("LF behind the size", _LF, "A line's end to some, a part of it to others.", b"3\nabc" + _END),
    broken("CR behind the size", _LF, "As above.", b"3\rabc" + _END),
    broken("LF everywhere", _LF, "As above.", b"3\nabc\n0\n\n"),
    broken("LF behind the last chunk", _LF, "As above.", b"3\r\nabc\r\n0\n\r\n"),
    broken("LF for the end", _LF, "As above.", b"3\r\nabc\r\n0\r\n\n"),
    broken("extension without a name", _EXT, "A token.", b"3;\r\nabc" + _END),
    broken("extension without a value", _EXT, "A token or a string.", b"3;a=\r\nabc" + _END),
    broken("open quote", _EXT, "It must be closed.", b'3;a="b\r\nabc' + _END),
    broken("line break in quotes", _EXT, "Where does the line end?", b'3;a="\r\nabc\r\n0\r\n"\r\n\r\n'),
    broken("LF in an extension", _EXT, "The chunk-extension smuggling of 2025.", b"3;a\nabc" + _END),
    broken("CR in an extension", _EXT, "A line's end to some.", b"3;a\rb\r\nabc" + _END),
    broken("NUL in an extension", _EXT, "A token.", b"3;a\0\r\nabc" + _END),
    broken("a blank in an extension", _EXT, "A token.", b"3;a b\r\nabc" + _END),
    broken("two equal signs", _EXT, "One.", b"3;a==b\r\nabc" + _END),
    broken("control character in quotes", _EXT, "Not in a string.", b'3;a="\x01"\r\nabc' + _END),
    broken("extension of 2,000 bytes", _EXT, "Recipients ought to limit them.", b"3;" + b"a" * 2000 + b"\r\nabc" + _END),
]  # fmt: skip
