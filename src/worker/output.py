"""Printed text on its way from the pipes to the server: decoded, bundled and bounded while it flows."""

from .pristine import BUILTINS as __builtins__

_CONTINUATION = bytes(range(0x80, 0xC0))


class Decoder:
    """Incremental UTF-8. Lone surrogates (ED A0..BF xx) survive, other bad bytes become U+FFFD."""

    def __init__(self):
        self.rest = b""

    def decode(self, data, final=False):
        data = self.rest + data
        self.rest = b""
        if data.isascii():
            return data.decode("ascii")
        if not final:
            cut = _whole_length(data)
            data, self.rest = data[:cut], bytes(data[cut:])
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError:
            return _decode_damaged(bytes(data))


def _whole_length(data):
    """Returns how many bytes come before a character that `data` only begins."""
    for back in range(1, min(4, len(data) + 1)):
        byte = data[-back]
        if byte >= 0xC0:
            need = 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
            return len(data) - back if back < need else len(data)
        if byte < 0x80:
            break
    return len(data)


def _decode_damaged(data):
    parts = []
    while data:
        try:
            parts.append(data.decode("utf-8"))
            break
        except UnicodeDecodeError as error:
            at = error.start
            parts.append(data[:at].decode("utf-8"))
            three = data[at : at + 3]
            if len(three) == 3 and three[0] == 0xED and 0xA0 <= three[1] < 0xC0 and 0x80 <= three[2] < 0xC0:
                parts.append(three.decode("utf-8", "surrogatepass"))
                data = data[at + 3 :]
            else:
                parts.append("\ufffd")
                data = data[max(error.end, at + 1) :]
    return "".join(parts)


def count_characters(data):
    """Returns how many characters the UTF-8 bytes hold, near enough for bytes that are not."""
    return len(data.translate(None, _CONTINUATION))


class Tail:
    """Keeps the last `limit` bytes of interleaved streams and counts what it had to leave out."""

    def __init__(self, limit):
        self.limit = limit
        self.size = 0
        self.dropped = 0
        self.runs = []  # [name, bytearray], neighbours differ in name

    def add(self, name, data):
        if len(data) > self.limit:
            self.clear(keep_count=True)
            cut = _next_start(data, len(data) - self.limit)
            self.dropped += count_characters(data[:cut])
            data = data[cut:]
        if self.runs and self.runs[-1][0] == name:
            self.runs[-1][1].extend(data)
        else:
            self.runs.append([name, bytearray(data)])
        self.size += len(data)
        self._shrink()

    def _shrink(self):
        while self.size > self.limit:
            run = self.runs[0][1]
            cut = _next_start(run, min(len(run), self.size - self.limit))
            self.dropped += count_characters(run[:cut])
            self.size -= cut
            del run[:cut]
            if not run:
                del self.runs[0]

    def clear(self, keep_count=False):
        if keep_count:
            self.dropped += sum(count_characters(run) for _, run in self.runs)
        self.runs = []
        self.size = 0

    def take(self):
        """Empties it. Returns `(name, text, dropped)` in order; only the first has `dropped` > 0."""
        decoders = {}
        pieces = []
        for name, run in self.runs:
            text = decoders.setdefault(name, Decoder()).decode(run)
            pieces.append((name, text))
        for name, decoder in decoders.items():
            if decoder.rest:
                pieces.append((name, decoder.decode(b"", final=True)))
        dropped, self.dropped = self.dropped, 0
        self.clear()
        if dropped and not pieces:
            pieces.append(("stdout", ""))
        return [(name, text, dropped if index == 0 else 0) for index, (name, text) in enumerate(pieces)]


def _next_start(data, at):
    """Returns the first position from `at` on where a character starts (within 3 bytes)."""
    for position in range(at, min(at + 3, len(data))):
        if data[position] & 0xC0 != 0x80:
            return position
    return min(at, len(data))


class CellOutput:
    """Printed text of one cell: the first `head` bytes go out live, the last `tail` bytes at the end."""

    BUNDLE_BYTES = 32768

    def __init__(self, head, tail, send):
        """`send(name, text, dropped)` is called in order."""
        self.room = head
        self.tail = Tail(tail)
        self.send = send
        self.pending = []  # (name, bytes) not yet sent
        self.pending_size = 0
        self.decoders = {"stdout": Decoder(), "stderr": Decoder()}

    def add(self, name, data):
        if self.room > 0:
            live = data[: self.room]
            if len(live) < len(data):
                live = data[: _next_start(data, self.room)]
            self.room -= len(live)
            self.pending.append((name, live))
            self.pending_size += len(live)
            data = data[len(live) :]
            if self.pending_size >= self.BUNDLE_BYTES:
                self.flush()
        if data:
            self.tail.add(name, data)

    def flush(self, final=False):
        """Sends what is held back; a character that is not whole yet stays, unless `final`."""
        pending, self.pending, self.pending_size = self.pending, [], 0
        index = 0
        while index < len(pending):
            name = pending[index][0]
            chunks = []
            while index < len(pending) and pending[index][0] == name:
                chunks.append(pending[index][1])
                index += 1
            text = self.decoders[name].decode(b"".join(chunks))
            if text:
                self.send(name, text, 0)
        if final:
            for name, decoder in self.decoders.items():
                text = decoder.decode(b"", final=True)
                if text:
                    self.send(name, text, 0)

    def finish(self):
        self.flush(final=True)
        for name, text, dropped in self.tail.take():
            self.send(name, text, dropped)
