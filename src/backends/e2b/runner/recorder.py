"""Output of one cell on its way out of an IPython kernel: in order, bounded, in few messages.

Every batch is one message: `{"cell": id, "seq": n, "items": [...]}` as JSON text. Items are the worker protocol's
`stream`, `display_data`, `execute_result` and `done` frames without `id`. Batches of the last cell are kept, so that
a client that lost the connection can have them again.
"""

from .pristine import BUILTINS as __builtins__

import collections
import threading
import time

from .frames import to_json
from .tail import Tail

BATCH_CHARS = 32768
BATCH_SECONDS = 0.05
FLUSH_SECONDS = 0.02
LATE_CHARS = 65536
DISPLAY_CHARS = 24 * 1024 * 1024
KEPT_CHARS = 8 * 1024 * 1024


class Recorder:
    """Collects items of the running cell and hands batches to `publish`. All methods but `text` take the lock."""

    def __init__(self):
        self.lock = threading.RLock()
        self._main = threading.main_thread().ident
        self.interrupted = False
        self._cell = None
        self._late = Tail(LATE_CHARS)
        self._wake = threading.Lock()  # Held while there is nothing to send; an Event needs builtins that code may delete
        self._wake.acquire()
        self._kept = collections.deque()
        self._kept_cell = None
        self._kept_chars = 0
        self._seq = 0
        self.sent_at = 0.0

    def start_ticker(self):
        threading.Thread(target=self._tick, name="edge-repl-output", daemon=True).start()

    # Interrupts: one that comes while the main thread has the lock waits until it has let go

    def on_interrupt(self):
        if self.lock._is_owned():
            self.interrupted = True
        else:
            raise KeyboardInterrupt

    def let_interrupt(self):
        """Is called by whoever had the lock, after it let go."""
        if self.interrupted and threading.get_ident() == self._main:
            self.interrupted = False
            raise KeyboardInterrupt

    # A cell

    def begin(self, cell, head, tail, publish):
        with self.lock:
            self.interrupted = False
            self._kept.clear()
            self._kept_chars = self._seq = 0
            self._cell = self._kept_cell = cell
            self._publish = publish
            self._room, self._tail, self._display_room = head, Tail(tail), DISPLAY_CHARS
            self._batch, self._batch_chars, self.sent_at = [], 0, 0.0
            for item in self._late.items():
                self._add_display({**item, "late": True})
            self._late = Tail(LATE_CHARS)

    def text(self, name, text):
        """The caller has the lock."""
        if self._cell is None:
            self._late.text(name, text)
        elif self._room <= 0:
            self._tail.text(name, text)
        else:
            now = text[: self._room]
            self._room -= len(now)
            self._put_text(name, now)
            if len(now) < len(text):
                self._tail.text(name, text[len(now) :])

    def display(self, kind, data):
        with self.lock:
            if self._cell is None:
                return
            size = sum(map(len, data.values()))
            if size > self._display_room:
                data = {"text/plain": data.get("text/plain", "")[:BATCH_CHARS]}
            self._display_room -= size
            item = {"type": kind, "data": data}
            if self._room > 0:
                self._add_display(item)
            else:
                self._tail.display(item)

    def flush(self):
        """Sends at once what is there. User code may flush after each line: callers look at `sent_at` first."""
        with self.lock:
            if self._cell is not None:
                self._send()
            self.sent_at = time.monotonic()

    def end(self, done):
        """Sends what is left and the last item of the cell."""
        with self.lock:
            for item in self._tail.items():
                self._batch.append((item, None))
            self._batch.append((done, None))
            self._send()
            self._cell = None

    def again(self, cell, seq, publish):
        """Publishes the batches of the last cell from number `seq` on; false when they are not there."""
        with self.lock:
            first = self._seq - len(self._kept)
            if cell != self._kept_cell or seq < first:
                return False
            batches = list(self._kept)[seq - first :]
        for text in batches:
            publish(text)
        return True

    # Batches: lists of (item, parts of its text or None)

    def _put_text(self, name, text):
        batch = self._batch
        if batch and batch[-1][1] is not None and batch[-1][0]["name"] == name:
            batch[-1][1].append(text)
        else:
            batch.append(({"type": "stream", "name": name}, [text]))
        self._grown(len(text))

    def _add_display(self, item):
        self._batch.append((item, None))
        self._grown(sum(map(len, item["data"].values())) if "data" in item else len(item["text"]))

    def _grown(self, size):
        self._batch_chars += size
        if self._batch_chars >= BATCH_CHARS:
            self._send()
        elif self._wake.locked():
            if time.monotonic() - self.sent_at > BATCH_SECONDS:
                self._send()
            else:
                self._wake.release()

    def _send(self):
        if not self._batch:
            return
        items = [item if parts is None else {**item, "text": "".join(parts)} for item, parts in self._batch]
        text = to_json({"cell": self._cell, "seq": self._seq, "items": items})
        self._seq += 1
        self._batch, self._batch_chars = [], 0
        self.sent_at = time.monotonic()
        self._kept.append(text)
        self._kept_chars += len(text)
        while self._kept_chars > KEPT_CHARS and len(self._kept) > 1:
            self._kept_chars -= len(self._kept.popleft())
        self._publish(text)

    def _tick(self):
        while True:
            self._wake.acquire()
            time.sleep(BATCH_SECONDS)
            with self.lock:
                if self._cell is not None:
                    self._send()
