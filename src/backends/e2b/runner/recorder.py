"""Output of one cell on its way out of an IPython kernel: in order, bounded, in few messages.

Every batch is one message: `{"cell": id, "seq": n, "items": [...]}` as JSON text. Items are the worker protocol's
`stream`, `display_data`, `execute_result` and `done` frames without `id`. Batches of the last cell are kept, so that
a client that lost the connection can have them again.
"""

from .pristine import BUILTINS as __builtins__

import collections
import json
import threading

BATCH_CHARS = 32768
BATCH_SECONDS = 0.05
LATE_CHARS = 65536
DISPLAY_CHARS = 24 * 1024 * 1024
KEPT_CHARS = 8 * 1024 * 1024


class Section:
    """A lock that any thread may hold; while the main thread holds it an interrupt waits until it lets go."""

    def __init__(self):
        self._lock = threading.RLock()
        self._main = threading.main_thread().ident
        self._inside = 0
        self._interrupted = False

    def __enter__(self):
        if threading.get_ident() == self._main:
            self._inside += 1
        self._lock.acquire()

    def __exit__(self, *_exception):
        self._lock.release()
        if threading.get_ident() == self._main:
            self._inside -= 1
            if self._interrupted and not self._inside:
                self._interrupted = False
                raise KeyboardInterrupt

    def on_interrupt(self, _signal, _frame):
        """A handler for SIGINT."""
        if self._inside:
            self._interrupted = True
        else:
            raise KeyboardInterrupt


class Tail:
    """The last `limit` characters of text, and all displays between them."""

    def __init__(self, limit):
        self._limit = limit
        self._pieces = collections.deque()
        self._chars = 0
        self.dropped = 0

    def add(self, item):
        last = self._pieces[-1] if self._pieces else None
        if item["type"] != "stream":
            self._pieces.append([item, []])
            return
        text = item["text"]
        if len(text) > self._limit:
            self.dropped += len(text) - self._limit
            text = text[len(text) - self._limit:]
        if last and last[0]["type"] == "stream" and last[0]["name"] == item["name"] and len(last[1]) < 64:
            last[1].append(text)
        else:
            self._pieces.append([item, [text]])
        self._chars += len(text)
        self._forget()

    def _forget(self):
        kept = []
        while self._pieces and self._chars > self._limit:
            item, texts = self._pieces[0]
            if item["type"] != "stream":
                kept.append(self._pieces.popleft())
                continue
            text = texts.pop(0)
            excess = min(len(text), self._chars - self._limit)
            self._chars -= excess
            self.dropped += excess
            if excess < len(text):
                texts.insert(0, text[excess:])
            elif not texts:
                self._pieces.popleft()
        self._pieces.extendleft(reversed(kept))

    def items(self):
        """What is kept, in order; the first text after the cut tells what is missing."""
        dropped = self.dropped
        for item, texts in self._pieces:
            if item["type"] == "stream":
                item = {**item, "text": "".join(texts)}
                if dropped:
                    item["dropped"], dropped = dropped, 0
            yield item
        if dropped:
            yield {"type": "stream", "name": "stdout", "text": "", "dropped": dropped}


class Recorder:
    """Collects items of the running cell and hands batches to `publish`; any thread may write."""

    def __init__(self):
        self.lock = Section()
        self._cell = None
        self._late = Tail(LATE_CHARS)
        self._wake = threading.Event()
        self._kept = collections.deque()
        self._kept_chars = 0
        self._seq = 0

    def start_ticker(self):
        threading.Thread(target=self._tick, name="edge-repl-output", daemon=True).start()

    def begin(self, cell, head, tail, publish):
        with self.lock:
            self._kept.clear()
            self._kept_chars = self._seq = 0
            self._cell, self._publish = cell, publish
            self._room, self._tail, self._display_room = head, Tail(tail), DISPLAY_CHARS
            self._batch, self._batch_chars = [], 0
            for item in self._late.items():
                self.add({**item, "late": True})
            self._late = Tail(LATE_CHARS)

    def text(self, name, text):
        if text:
            with self.lock:
                item = {"type": "stream", "name": name, "text": text}
                if self._cell is None:
                    self._late.add(item)
                else:
                    self.add(item)

    def display(self, kind, data):
        with self.lock:
            if self._cell is None:
                return
            size = sum(map(len, data.values()))
            if size > self._display_room:
                data = {"text/plain": data.get("text/plain", "")[:BATCH_CHARS]}
            self._display_room -= size
            self.add({"type": kind, "data": data})

    def add(self, item):
        """Puts an item at its place: live while the head has room, else into the tail. The caller has the lock."""
        if item["type"] != "stream":
            if self._room > 0:
                self._put(item, sum(map(len, item["data"].values())))
            else:
                self._tail.add(item)
            return
        text = item["text"]
        if self._room > 0:
            now = text[:self._room]
            self._room -= len(now)
            self._put({**item, "text": now}, len(now))
            text = text[len(now):]
        if text:
            self._tail.add({**item, "text": text})

    def end(self, done):
        """Sends what is left and the last item of the cell."""
        with self.lock:
            for item in self._tail.items():
                self._put(item, len(item.get("text", "")))
            self._batch.append(done)
            self._send()
            self._cell = None

    def again(self, cell, seq, publish):
        """Publishes the batches of the last cell from number `seq` on; false when they are not there."""
        with self.lock:
            batches = list(self._kept)
            first = self._seq - len(batches)
            known = cell == self._last_cell() and seq >= first
        if known:
            for text in batches[seq - first:]:
                publish(text)
        return known

    def _last_cell(self):
        return json.loads(self._kept[-1])["cell"] if self._kept else None

    def _put(self, item, size):
        batch = self._batch
        last = batch[-1] if batch else None
        if (
            last and item["type"] == "stream" == last["type"] and last["name"] == item["name"]
            and "dropped" not in item and last.get("late") == item.get("late")
        ):
            last["text"] += item["text"]
        else:
            batch.append(dict(item))
        self._batch_chars += size
        if self._batch_chars >= BATCH_CHARS:
            self._send()
        elif len(batch) == 1:
            self._wake.set()

    def _send(self):
        if not self._batch:
            return
        text = json.dumps({"cell": self._cell, "seq": self._seq, "items": self._batch})
        self._seq += 1
        self._batch, self._batch_chars = [], 0
        self._kept.append(text)
        self._kept_chars += len(text)
        while self._kept_chars > KEPT_CHARS and len(self._kept) > 1:
            self._kept_chars -= len(self._kept.popleft())
        self._publish(text)

    def _tick(self):
        pause = threading.Event()
        while True:
            self._wake.wait()
            pause.wait(BATCH_SECONDS)
            self._wake.clear()
            with self.lock:
                if self._cell is not None:
                    self._send()
