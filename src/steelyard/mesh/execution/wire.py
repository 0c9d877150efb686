"""Values as bytes: msgpack, and numpy arrays beside it.

None, booleans, numbers (complex ones, too), text, bytes, lists, tuples (which arrive as lists,
except as keys of dicts) and dicts are packed by msgpack. Arrays follow, in one piece each, so that
packing copies them once and unpacking never: an array that arrives is a read-only view of the
message.

    plain        msgpack
    with arrays  0xC1 · length of the head (u32) · head, padded · array, padded · …

0xC1 is the one byte that msgpack never begins with. Padding makes arrays start at multiples of 64,
as vector instructions prefer. Code is never packed, and never run by unpacking.
"""

from __future__ import annotations

import struct
import sys
from typing import Any

import msgpack

from steelyard.errors import Fault, SteelyardError
from steelyard.mesh.execution.outcome import Failure

COMPLEX, ARRAY = 1, 2  # extension types of msgpack
# bytes; a message holds the packed value as msgpack bytes, whose length has 32 bits
MOST = 4_000_000_000
_MARK, _ALIGN = 0xC1, 64
_HEAD, _COMPLEX = struct.Struct("<BxxxI"), struct.Struct("<dd")
_SHAPED = "biufcmMSUV"  # kinds of dtype that consist of plain bytes


class WireError(SteelyardError):
    """A value has a type that cannot be sent, or received bytes are not a value."""

    fault = Fault.APPLICATION


def pack(value: object) -> bytes:
    """Pack a value as bytes."""
    return b"".join(pack_parts(value))


def pack_parts(value: object) -> list[bytes | memoryview]:
    """Pack a value in pieces, to be written one after the other: nothing large is copied."""
    arrays: list[memoryview] = []

    def other(one: object) -> object:
        return _extend(one, arrays)

    try:
        head: bytes = msgpack.packb(value, default=other)
    except (TypeError, ValueError, OverflowError, BufferError) as error:
        raise WireError(
            f"cannot be sent: {error}",
            hint="use numbers below 2**64, text, bytes, lists, dicts and numpy arrays",
        ) from None
    size = len(head) + sum(array.nbytes for array in arrays)
    if size > MOST:
        raise WireError(
            f"cannot be sent: {size} bytes",
            hint=f"at most {MOST}; send the place of a file instead",
        )
    if not arrays:
        return [head]
    parts: list[bytes | memoryview] = [_HEAD.pack(_MARK, len(head)), head]
    at = _HEAD.size + len(head)
    for array in arrays:
        parts += (bytes(-at % _ALIGN), array)
        at += -at % _ALIGN + array.nbytes
    return parts


def unpack(data: bytes | memoryview) -> Any:
    """Unpack a value; arrays in it keep `data` alive."""
    try:
        try:
            return _unpack(data)
        except TypeError:  # seldom, and slow: a tuple as a key has become a list
            return _unpack(data, object_pairs_hook=_dict)
    except (ValueError, TypeError, struct.error, msgpack.exceptions.UnpackException) as error:
        raise WireError(f"is not a packed value: {error}") from None


def _unpack(data: bytes | memoryview, **options: Any) -> Any:
    options["strict_map_key"] = False
    if data and data[0] == _MARK:
        return _unpack_with_arrays(memoryview(data), options)
    return msgpack.unpackb(data, ext_hook=_plain_extension, **options)


def _dict(pairs: list[tuple[Any, Any]]) -> dict[Any, Any]:
    return {_key(key): value for key, value in pairs}


def _key(key: Any) -> Any:
    return tuple(map(_key, key)) if isinstance(key, list) else key


def pack_call(*args: object, **kwargs: object) -> bytes:
    """Pack the arguments of a unit."""
    return pack([args, kwargs])


def unpack_call(data: bytes | memoryview) -> tuple[list[Any], dict[str, Any]]:
    """Unpack the arguments of a unit."""
    args, kwargs = unpack(data)
    return args, kwargs


def pack_failure(failure: Failure) -> bytes:
    """Pack a failure, which stands in an outcome in place of a value."""
    return pack([failure.type, failure.message, failure.traceback])


def unpack_failure(data: bytes) -> Failure:
    """Unpack a failure."""
    return Failure(*unpack(data))


def _extend(value: object, arrays: list[memoryview]) -> object:
    """Encode a value that msgpack does not know."""
    numpy = sys.modules.get("numpy")  # if numpy is not imported, there are no arrays
    if isinstance(value, complex) or (numpy and isinstance(value, numpy.complexfloating)):
        return msgpack.ExtType(COMPLEX, _COMPLEX.pack(value.real, value.imag))
    if numpy is not None and isinstance(value, numpy.ndarray):
        return _set_aside(numpy, value, arrays)
    if numpy is not None and isinstance(value, numpy.generic):
        return value.item()
    raise TypeError(f"a value of type {type(value).__module__}.{type(value).__qualname__}")


def _set_aside(numpy: Any, array: Any, arrays: list[memoryview]) -> object:
    if array.dtype.kind not in _SHAPED or array.dtype.hasobject or array.dtype.names:
        raise TypeError(f"a numpy array of dtype {array.dtype}")
    if isinstance(array, numpy.ma.MaskedArray):
        raise TypeError("a masked array, whose mask would be lost")
    whole = numpy.ascontiguousarray(array)
    arrays.append(memoryview(whole.reshape(-1).view(numpy.uint8)))
    shape = [array.dtype.str, list(array.shape), whole.nbytes]
    return msgpack.ExtType(ARRAY, msgpack.packb(shape))


def _plain_extension(code: int, data: bytes) -> object:
    if code == COMPLEX:
        return complex(*_COMPLEX.unpack(data))
    raise ValueError(f"extension {code}")


def _unpack_with_arrays(data: memoryview, options: dict[str, Any]) -> Any:
    _, length = _HEAD.unpack_from(data)
    at = _HEAD.size + length

    def extension(code: int, shape: bytes) -> object:
        nonlocal at
        if code != ARRAY:
            return _plain_extension(code, shape)
        dtype, dimensions, size = msgpack.unpackb(shape)
        begin = at + -at % _ALIGN
        at = begin + size
        if at > len(data):
            raise ValueError("an array is cut")
        return _array(data[begin:at], dtype, dimensions)

    head = data[_HEAD.size : _HEAD.size + length]
    return msgpack.unpackb(head, ext_hook=extension, **options)


def _array(data: memoryview, dtype: str, shape: list[int]) -> object:
    try:
        import numpy
    except ImportError:
        raise TypeError("it has a numpy array, but numpy is not installed here") from None
    array = numpy.frombuffer(data, dtype=dtype).reshape(shape)
    array.flags.writeable = False
    return array
