"""sys.stdin, sys.stdout and sys.stderr of user code: the same objects for the life of the kernel, on real pipes."""

from .pristine import BUILTINS as __builtins__

import io
import os
import posix
import sys
from _thread import RLock

from . import links


class _Reports:
    """The kernel's end of the link to the monitor. Safe in all threads and inside signal handlers."""

    def __init__(self, reports, acks, tag):
        self.reports = reports
        self.acks = acks
        self.tag = tag
        self.sent = 0
        self.asked = 0
        self.acknowledged = 0
        self.lock = RLock()

    def send(self, message):
        self.sent = number = self.sent + 1
        for part in links.to_parts(self.tag, number & 0xFFFFFFFFFFFF, message):
            _write(self.reports, part)
            streams.writes += 1

    def round_trip(self, kind, *rest):
        """Sends a message and returns when the monitor has dealt with it and with all that was written before."""
        with self.lock:
            self.asked = number = self.asked + 1
            self.send((kind, number) + rest)
            while self.acknowledged < number:
                data = os.read(self.acks, 8)
                if not data:
                    os._exit(1)
                self.acknowledged = max(self.acknowledged, int.from_bytes(data, "big"))


class _RawOutput(io.FileIO):
    """Descriptor 1 or 2, not buffered: what was printed is never lost, nor late. Nothing can close it."""

    def close(self):
        return None


class _RawStdout(_RawOutput):
    def write(self, data):
        if streams.unordered:
            streams.put_in_order()
        written = _write(1, data)
        streams.writes += 1
        return written if written == len(data) else _write_rest(1, data, written)


class _RawStderr(_RawOutput):
    def write(self, data):
        streams.flush()
        written = _write(2, data)
        streams.writes += 1
        streams.unordered = True
        return written if written == len(data) else _write_rest(2, data, written)


_write = os.write


def _write_rest(descriptor, data, written):
    """A pipe takes all at once, but for a signal that comes in the middle of much data."""
    data = memoryview(data).cast("B")
    while written < len(data):
        written += _write(descriptor, data[written:])
    return written


class _InputBuffer(io.BufferedReader):
    def close(self):
        return None


class _RawInput(io.FileIO):
    def close(self):
        return None


# Name, mode, raw layer, buffer and settings of the descriptors 0, 1 and 2.
_PLANS = (
    ("stdin", "r", _RawInput, _InputBuffer, {"errors": "surrogateescape"}),
    ("stdout", "w", _RawStdout, None, {"errors": "surrogatepass", "write_through": True}),
    ("stderr", "w", _RawStderr, None, {"errors": "surrogatepass", "write_through": True}),
)


class Streams:
    """Owns the descriptors 0, 1 and 2 and the objects on them."""

    def __init__(self):
        self.writes = 0  # By these streams and to the monitor; a few less when signals or threads interfere
        self.child = False  # This is a process that user code has forked
        # What lies in stderr's pipe must be taken by the monitor before the next write to stdout, which it would
        # otherwise read first: set by writes to stderr, and while child processes may write there.
        self.unordered = False
        self.watching = False

    def open(self, ends, tag):
        """Takes the pipes over and puts new stream objects into `sys`."""
        self.null = links.move_high(os.open(os.devnull, os.O_RDONLY))
        self.stdout_copy = ends["stdout"]
        self.stderr_copy = ends["stderr"]
        self.private = [ends[name] for name in ("reports", "acks", "commands", "asked", "life")]
        self.link = _Reports(ends["reports"], ends["acks"], tag)
        self._restore_descriptors()
        self.layers = []
        self.stdin, self.stdout, self.stderr = [self._open_stream(*plan) for plan in _PLANS]
        os.register_at_fork(before=self.before_child, after_in_child=self._after_fork_in_child)
        self._restore_names()
        self._note_raw_writes()

    def _note_raw_writes(self):
        def write(fd, data, /):
            if fd == 1 and self.unordered:
                self.put_in_order()
            written = _write(fd, data)
            if fd == 2:
                self.unordered = True
            return written

        write.__doc__, write.__module__ = _write.__doc__, "posix"
        write.__qualname__ = "write"
        os.write = posix.write = write  # In both, or it could not be pickled

    def _open_stream(self, name, mode, raw_class, buffer_class, options):
        raw = raw_class(len(self.layers), mode, closefd=False)
        raw.name = "<%s>" % name
        options = dict(options, encoding="utf-8")
        stream = io.TextIOWrapper(buffer_class(raw) if buffer_class else raw, **options)
        stream.mode = mode
        self.layers.append((stream, raw, buffer_class, options))
        return stream

    def restore(self):
        """Makes all of it work again, whatever the last cell did."""
        self.unordered = self.watching = False
        self._restore_descriptors()
        self._revive()
        self._restore_names()

    def _revive(self):
        """Puts detached layers together again, in the same objects, and takes back other settings."""
        for stream, raw, buffer_class, options in self.layers:
            try:
                usable = stream.buffer is raw or stream.buffer.raw is raw
            except (ValueError, AttributeError):
                usable = False
            if not usable:
                stream.__init__(buffer_class(raw) if buffer_class else raw, **options)
            elif any([getattr(stream, name) != value for name, value in options.items()]):
                stream.reconfigure(**options)

    def _restore_descriptors(self):
        for target, source in ((0, self.null), (1, self.stdout_copy), (2, self.stderr_copy)):
            os.dup2(source, target)

    def _restore_names(self):
        sys.stdin = sys.__stdin__ = self.stdin
        sys.stdout = sys.__stdout__ = self.stdout
        sys.stderr = sys.__stderr__ = self.stderr

    def put_in_order(self):
        if not self.child and links.waiting_bytes(self.stderr_copy):
            self.link.round_trip("sync")
        self.unordered = self.watching

    def before_child(self):
        """Is called before a process is started that writes to the same descriptors."""
        self.flush()
        self.put_in_order()
        self.unordered = self.watching = True

    def flush(self):
        """Writes what stdout holds back, which is nothing but where user code has changed its settings."""
        try:
            self.stdout.flush()
        except ValueError:  # Detached by user code
            self._revive()

    def _after_fork_in_child(self):
        """A child keeps the descriptors 1 and 2, and nothing it could speak to the monitor with."""
        self.child = True
        for descriptor in self.private:
            try:
                os.close(descriptor)
            except OSError:
                continue  # User code was faster


streams = Streams()
