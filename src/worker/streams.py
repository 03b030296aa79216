"""sys.stdin, sys.stdout and sys.stderr of user code: the same objects for the life of the kernel, on real pipes."""

from .pristine import BUILTINS as __builtins__

import io
import os
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
            os.write(self.reports, part)

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
    """Descriptor 1 or 2; what wraps it can neither close nor lose it."""

    def close(self):
        return None


class _RawStdout(_RawOutput):
    """Lets the monitor take what lies in stderr's pipe before it writes, so that the order is as written."""

    def write(self, data):
        if streams.in_order and links.waiting_bytes(streams.stderr_copy):
            streams.link.round_trip("sync")
        return _write_all(1, data)


class _RawStderr(_RawOutput):
    def write(self, data):
        streams.flush()
        return _write_all(2, data)


def _write_all(descriptor, data):
    """A blocking pipe takes all, but for a signal that comes in the middle."""
    view = memoryview(data).cast("B")
    written = os.write(descriptor, view)
    while written < len(view):
        written += os.write(descriptor, view[written:])
    return written


class _Buffer(io.BufferedWriter):
    def close(self):
        self.flush()


class _InputBuffer(io.BufferedReader):
    def close(self):
        return None


class _RawInput(io.FileIO):
    def close(self):
        return None


# Name, mode, raw layer, buffer and settings of the descriptors 0, 1 and 2.
_PLANS = (
    ("stdin", "r", _RawInput, _InputBuffer, {"errors": "surrogateescape"}),
    ("stdout", "w", _RawStdout, _Buffer, {"errors": "surrogatepass", "line_buffering": True}),
    ("stderr", "w", _RawStderr, None, {"errors": "surrogatepass", "write_through": True}),
)


class Streams:
    """Owns the descriptors 0, 1 and 2 and the objects on them."""

    def __init__(self):
        self.in_order = False
        self.child = False

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
        self.in_order = True
        os.register_at_fork(before=self.flush, after_in_child=self._after_fork_in_child)
        self._restore_names()

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

    def flush(self):
        """Writes what stdout holds back; called at the end of a cell, and before anything else is to come after it."""
        try:
            self.stdout.flush()
        except ValueError:  # Detached by user code
            self._revive()

    def _after_fork_in_child(self):
        """A child keeps the descriptors 1 and 2, and nothing it could speak to the monitor with."""
        self.in_order = False
        self.child = True
        for descriptor in self.private:
            os.close(descriptor)


streams = Streams()
