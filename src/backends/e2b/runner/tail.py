"""The last characters of what was printed, kept while it is printed."""

from .pristine import BUILTINS as __builtins__

import collections

PARTS = 256


class Tail:
    """Keeps at least the last `limit` characters of text, at most twice as many, and all displays between them."""

    def __init__(self, limit):
        self._limit = limit
        self._pieces = collections.deque()  # [name, parts of text], or an item
        self._chars = 0
        self._dropped = 0

    def text(self, name, text):
        last = self._pieces[-1] if self._pieces else None
        if type(last) is list and last[0] == name and len(last[1]) < PARTS:
            last[1].append(text)
        else:
            self._pieces.append([name, [text]])
        self._chars += len(text)
        if self._chars > 2 * self._limit:
            self._forget()

    def display(self, item):
        self._pieces.append(item)

    def items(self):
        """What is kept, in order; the first text after the cut tells what is missing."""
        self._forget()
        dropped = self._dropped
        for piece in self._pieces:
            if type(piece) is dict:
                yield piece
                continue
            item = {"type": "stream", "name": piece[0], "text": "".join(piece[1])}
            if dropped:
                item["dropped"], dropped = dropped, 0
            yield item
        if dropped:
            yield {"type": "stream", "name": "stdout", "text": "", "dropped": dropped}

    def _forget(self):
        displays = []
        excess = self._chars - self._limit
        while excess > 0:
            piece = self._pieces.popleft()
            if type(piece) is dict:
                displays.append(piece)
                continue
            text = "".join(piece[1])
            if len(text) > excess:
                self._pieces.appendleft([piece[0], [text[excess:]]])
            gone = min(len(text), excess)
            excess -= gone
            self._dropped += gone
            self._chars -= gone
        self._pieces.extendleft(reversed(displays))
