"""Frames between server and monitor: 4 bytes big-endian length, then that many bytes of ASCII JSON.

`json` costs more start-up time than all the rest of the monitor (it imports `re`), so its C parts are used directly.
"""

from .pristine import BUILTINS as __builtins__

try:
    from _json import encode_basestring_ascii as _quoted
    from _json import make_scanner as _make_scanner
except ImportError:  # An interpreter without the C parts
    from json.encoder import encode_basestring_ascii as _quoted
    from json.scanner import make_scanner as _make_scanner


class _Rules:
    """The attributes a JSON scanner asks for."""

    strict = False
    object_hook = object_pairs_hook = None
    parse_float = float
    parse_int = int
    memo = {}

    @staticmethod
    def parse_constant(name):
        raise ValueError("%s is not JSON" % name)

    @staticmethod
    def parse_object(*state):
        from json.decoder import JSONObject

        return JSONObject(*state)

    @staticmethod
    def parse_array(*state):
        from json.decoder import JSONArray

        return JSONArray(*state)

    @staticmethod
    def parse_string(*state):
        from json.decoder import py_scanstring

        return py_scanstring(*state)


_scan = _make_scanner(_Rules)


def to_json(value):
    """Returns `value` (None, bool, int, float, str, and lists and dicts of them) as ASCII JSON text."""
    if isinstance(value, str):
        return _quoted(value)
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, dict):
        return "{" + ",".join([_quoted(key) + ":" + to_json(item) for key, item in value.items()]) + "}"
    return "[" + ",".join([to_json(item) for item in value]) + "]"


def to_frame(value):
    body = to_json(value).encode("ascii")
    return len(body).to_bytes(4, "big") + body


def take_frames(buffer):
    """Removes the whole frames at the start of the bytearray `buffer` and returns their values.

    Raises ValueError on anything that is not an object; the link is then of no more use.
    """
    values = []
    start = 0
    while len(buffer) - start >= 4:
        end = start + 4 + int.from_bytes(buffer[start : start + 4], "big")
        if len(buffer) < end:
            break
        try:
            value, _ = _scan(buffer[start + 4 : end].decode("utf-8"), 0)
        except StopIteration:
            raise ValueError("A frame holds no JSON") from None
        if not isinstance(value, dict):
            raise ValueError("A frame holds no JSON object")
        values.append(value)
        start = end
    del buffer[:start]
    return values
