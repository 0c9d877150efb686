"""Makes text from others safe for a terminal: control characters except colours are written out.

A worker may print what a client sent: an escape sequence in a path could set the title of the
operator's window, write to the clipboard, or hide lines. A file or a pipe gets the text as it is.
"""

from __future__ import annotations

import re
import sys

# Colours and other ways of drawing characters (ECMA-48 SGR) are harmless. Of the other control
# characters, including C1, only newline and tab are.
_CONTROL = re.compile(r"(\x1b\[[0-9;:]*m)|[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def harmless(text: str) -> str:
    """The text with control characters written out, as in `\\x1b`."""
    return _CONTROL.sub(lambda found: found[1] or f"\\x{ord(found[0]):02x}", text)


def for_terminal(text: str) -> str:
    """Make the text harmless if standard output is a terminal; programs get it unchanged."""
    return harmless(text.replace("\r\n", "\n")) if sys.stdout.isatty() else text
