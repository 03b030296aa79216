"""sys.stdout, sys.stderr and descriptors 1 and 2 of an IPython kernel, led into a recorder in order.

Text that Python code prints goes to the recorder at once. What is written on the descriptors by C code or child
processes comes through pipes, which are emptied before each print, so that order is as written.
A forked child has no recorder: its streams write on the inherited descriptors.
"""

from .pristine import BUILTINS as __builtins__

import codecs
import io
import os
import select
import sys
import threading
from time import monotonic

from .recorder import FLUSH_SECONDS

ERRORS = "edge-repl-replace"
CHUNK = 65536
READS = 16
SET_PIPE_SIZE = 1031  # F_SETPIPE_SZ
PIPE_BYTES = 1 << 20


def replace_bad(error):
    """Lone surrogates survive in both directions, other bad bytes become U+FFFD."""
    try:
        return codecs.lookup_error("surrogatepass")(error)
    except UnicodeError:
        return codecs.lookup_error("replace")(error)


codecs.register_error(ERRORS, replace_bad)
make_decoder = codecs.getincrementaldecoder("utf-8")


class Raw(io.RawIOBase):
    """The bytes under one text stream. It cannot be closed, so the stream over it stays usable."""

    def __init__(self, streams, name, descriptor):
        self._streams, self._recorder, self._descriptor = streams, streams.recorder, descriptor
        self._write = streams.printed
        self._printing = name
        self.name = "<%s>" % name
        self._decoder = make_decoder(ERRORS)
        self._split = False

    def writable(self):
        return True

    def fileno(self):
        return self._descriptor

    def isatty(self):
        return False

    def close(self):
        pass

    def flush(self):
        if monotonic() - self._recorder.sent_at > FLUSH_SECONDS and not self._streams.child:
            self._streams.flushed()

    def write(self, data):
        if self._streams.child:
            view = memoryview(data).cast("B")
            size = len(view)
            while view:
                view = view[os.write(self._descriptor, view) :]
            return size
        data = bytes(data)
        self._write(self._printing, self._decode(data))
        return len(data)

    def _decode(self, data):
        if not self._split:
            try:
                return data.decode()
            except UnicodeDecodeError:
                self._split = True
        text = self._decoder.decode(data)
        self._split = self._decoder.getstate()[0] != b""
        return text


class Streams:
    """Both streams of this process. `install` once; `restore` before and after each cell."""

    def __init__(self, recorder):
        self.child = False
        self.recorder = recorder
        self._lock = recorder.lock
        self._readers = {}
        self._writers = {}
        self._poller = select.poll()
        self._poll = self._poller.poll

    def install(self):
        self._raws = {name: Raw(self, name, descriptor) for name, descriptor in (("stdout", 1), ("stderr", 2))}
        self._make_texts()
        for descriptor, name in ((1, "stdout"), (2, "stderr")):
            reader, writer = os.pipe()
            _grow(writer)
            os.set_blocking(reader, False)
            self._readers[reader] = (name, make_decoder(ERRORS))
            self._writers[descriptor] = writer
            self._poller.register(reader, select.POLLIN)
        os.register_at_fork(before=self.flush, after_in_child=self._in_child)
        self.restore()
        threading.Thread(target=self._pump, name="edge-repl-descriptors", daemon=True).start()

    def restore(self):
        """Puts streams and descriptors back where they belong, whatever the code before did to them."""
        if _lost(self.stdout) or _lost(self.stderr):
            self._make_texts()
        sys.stdout = sys.__stdout__ = self.stdout
        sys.stderr = sys.__stderr__ = self.stderr
        sys.stdin = sys.__stdin__ = self.stdin
        for descriptor, writer in self._writers.items():
            os.dup2(writer, descriptor)

    def drain(self):
        """Takes what is in the pipes; at the end of a cell, what all that it waited for has written."""
        with self._lock:
            self._drain()

    def flush(self):
        if not self.child:
            self.stdout.flush()

    def printed(self, name, text):
        if name == "stderr":
            self.stdout.flush()
        with self._lock:
            if self._poll(0):
                self._drain()
            self.recorder.text(name, text)
        if self.recorder.interrupted:
            self.recorder.let_interrupt()

    def flushed(self):
        self.recorder.flush()
        self.recorder.let_interrupt()

    def _drain(self):
        for reader in self._readers:
            self._read(reader)

    def _make_texts(self):
        options = {"encoding": "utf-8", "errors": ERRORS, "line_buffering": True}
        self.stdout = io.TextIOWrapper(self._raws["stdout"], **options)
        self.stderr = io.TextIOWrapper(self._raws["stderr"], write_through=True, **options)
        self.stdin = open(os.devnull, encoding="utf-8")
        self.stdout.mode = self.stderr.mode = "w"

    def _in_child(self):
        self.child = True

    def _read(self, reader):
        name, decoder = self._readers[reader]
        for _ in range(READS):  # a flood must not keep the lock for ever
            try:
                data = os.read(reader, CHUNK)
            except BlockingIOError:
                return
            text = decoder.decode(data)
            if text:
                self.recorder.text(name, text)

    def _pump(self):
        poller = select.poll()
        for reader in self._readers:
            poller.register(reader, select.POLLIN)
        while True:
            poller.poll()
            self.drain()


def _lost(stream):
    try:
        return stream.closed
    except ValueError:  # detached
        return True


def _grow(writer):
    """Code that writes while it holds the GIL then has room to do so."""
    try:
        import fcntl

        fcntl.fcntl(writer, SET_PIPE_SIZE, PIPE_BYTES)
    except (ImportError, OSError):
        return
