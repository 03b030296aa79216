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

ERRORS = "edge-repl-replace"
CHUNK = 65536
STARTS_CHILD = frozenset(("subprocess.Popen", "os.system", "os.fork", "os.forkpty", "os.exec", "os.posix_spawn", "os.spawn"))


def replace_bad(error):
    """Lone surrogates survive in both directions, other bad bytes become U+FFFD."""
    try:
        return codecs.lookup_error("surrogatepass")(error)
    except UnicodeError:
        return codecs.lookup_error("replace")(error)


class Raw(io.RawIOBase):
    """The bytes under one text stream. It cannot be closed, so the stream over it stays usable."""

    def __init__(self, streams, name, descriptor):
        self._streams, self._name, self._descriptor = streams, name, descriptor
        self._decoder = codecs.getincrementaldecoder("utf-8")(ERRORS)

    def writable(self):
        return True

    def fileno(self):
        return self._descriptor

    def isatty(self):
        return False

    def close(self):
        pass

    def write(self, data):
        data = bytes(data)
        if os.getpid() != self._streams.owner:
            view = memoryview(data)
            while view:
                view = view[os.write(self._descriptor, view):]
        else:
            self._streams.printed(self._name, self._decoder, data)
        return len(data)


class Streams:
    """Both streams of this process. `install` once; `restore` before and after each cell."""

    def __init__(self, recorder):
        self.owner = os.getpid()
        self._recorder = recorder
        self._readers = {}
        codecs.register_error(ERRORS, replace_bad)

    def install(self):
        self._raws = {name: Raw(self, name, descriptor) for name, descriptor in (("stdout", 1), ("stderr", 2))}
        self._make_texts()
        self._writers = {}
        for descriptor, name in ((1, "stdout"), (2, "stderr")):
            reader, writer = os.pipe()
            self._grow(writer)
            os.set_blocking(reader, False)
            self._readers[reader] = (name, codecs.getincrementaldecoder("utf-8")(ERRORS))
            self._writers[descriptor] = writer
        os.register_at_fork(before=self._flush)
        sys.addaudithook(self._audit)
        self.restore()
        threading.Thread(target=self._pump, name="edge-repl-descriptors", daemon=True).start()

    def restore(self):
        """Puts streams and descriptors back where they belong, whatever the code before did to them."""
        if self._lost(self.stdout) or self._lost(self.stderr):
            self._make_texts()
        sys.stdout = sys.__stdout__ = self.stdout
        sys.stderr = sys.__stderr__ = self.stderr
        sys.stdin = sys.__stdin__ = self.stdin
        for descriptor, writer in self._writers.items():
            os.dup2(writer, descriptor)

    def drain(self):
        """Takes what is in the pipes; for the end of a cell, when all writers that the cell waited for are done."""
        with self._recorder.lock:
            for reader in self._readers:
                self._read(reader)

    def flush(self):
        for stream in (sys.stdout, sys.stderr, self.stdout, self.stderr):
            try:
                stream.flush()
            except Exception:  # a stream of the user's that cannot be flushed has nothing for us
                continue

    def printed(self, name, decoder, data):
        if name == "stderr":
            self.stdout.flush()
        with self._recorder.lock:
            self.drain()
            self._recorder.text(name, decoder.decode(data))

    def _make_texts(self):
        options = {"encoding": "utf-8", "errors": ERRORS, "line_buffering": True}
        self.stdout = io.TextIOWrapper(self._raws["stdout"], **options)
        self.stderr = io.TextIOWrapper(self._raws["stderr"], write_through=True, **options)
        self.stdin = open(os.devnull, encoding="utf-8")
        self.stdout.mode = self.stderr.mode = "w"

    def _lost(self, stream):
        try:
            return stream.closed
        except ValueError:  # detached
            return True

    def _audit(self, event, _arguments):
        if event in STARTS_CHILD:
            self._flush()

    def _flush(self):
        if os.getpid() == self.owner:
            self.stdout.flush()

    def _grow(self, writer):
        try:
            import fcntl
            fcntl.fcntl(writer, 1031, 1 << 20)  # F_SETPIPE_SZ: code that holds the GIL has room to write
        except (ImportError, OSError):
            return

    def _read(self, reader):
        name, decoder = self._readers[reader]
        for _ in range(16):  # a flood must not keep the lock for ever
            try:
                data = os.read(reader, CHUNK)
            except BlockingIOError:
                return
            if not data:
                return
            self._recorder.text(name, decoder.decode(data))

    def _pump(self):
        poller = select.poll()
        for reader in self._readers:
            poller.register(reader, select.POLLIN)
        while True:
            poller.poll()
            self.drain()
