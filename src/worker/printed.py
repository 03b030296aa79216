"""Takes what user code and its children print out of the two pipes, in the order in which it was written."""

from .pristine import BUILTINS as __builtins__

import os
import select
import time

from . import links
from .output import Tail

LATE_BYTES = 8192
STDOUT_PIPE_BYTES = 262144
BUNDLE_SECONDS = 0.05
# After reading, the monitor waits this long before it looks again (while a cell runs, between cells): a kernel that
# prints line by line is then not slowed by a switch per line, nor the machine by a flood.
PAUSE_RUNNING, PAUSE_IDLE = 0.004, 0.02
# But a cell that has filled the pipe that far is not made to wait.
MUCH_BYTES = 65536
_NAMES = ("stdout", "stderr")


class Printed:
    """`output` receives the text of the running cell; without one it is kept, bounded, in `late`."""

    def __init__(self, poller, stdout, stderr):
        self.poller = poller
        self.pipes = {"stdout": stdout, "stderr": stderr}
        self.output = None
        self.late = Tail(LATE_BYTES)
        self.paused_until = None
        self.flush_at = None
        for descriptor in (stdout, stderr):
            os.set_blocking(descriptor, False)
            poller.register(descriptor, select.POLLIN)
        links.widen(stdout, STDOUT_PIPE_BYTES)

    def begin(self, output):
        """From now on text belongs to a cell. Returns `(name, text, dropped)` of what came since the last one."""
        self.drain()
        self.output = output
        return self.late.take()

    def end(self):
        """Hands over all that the cell has printed."""
        self.drain()
        output, self.output, self.flush_at = self.output, None, None
        output.finish()

    def flush(self):
        """Hands over what came before now."""
        self.drain()
        if self.output is not None:
            self.output.flush()

    def drain(self):
        """Takes over what was written before now. Returns how many bytes.

        The kernel never writes to stdout while stderr's pipe holds bytes (it asks for a drain first), so what lies in
        stdout's pipe was written before what lies in stderr's.
        """
        size = links.waiting_bytes(self.pipes["stderr"])
        taken = self._take("stdout", links.waiting_bytes(self.pipes["stdout"]))
        taken += self._take("stderr", size)
        if taken and self.paused_until is None and (taken < MUCH_BYTES or self.output is None):
            self._pause()
        return taken

    def _take(self, name, size):
        left = size
        while left > 0:
            try:
                data = os.read(self.pipes[name], min(left, 1 << 16))
            except BlockingIOError:
                break
            if not data:
                break
            left -= len(data)
            self._add(name, data)
        return size - left

    def _add(self, name, data):
        if self.output is None:
            self.late.add(name, data)
            return
        self.output.add(name, data)
        if self.flush_at is None and self.output.pending:
            self.flush_at = time.monotonic() + BUNDLE_SECONDS

    # Called by the monitor's loop

    def on_readable(self, event):
        if not self.drain() and event & ~select.POLLIN:
            for name in _NAMES:  # Closed by all; only a dying kernel does that
                self._stop_reading(name)

    def on_time(self, now):
        if self.paused_until is not None and now >= self.paused_until:
            self.paused_until = None
            for descriptor in self.pipes.values():
                self.poller.register(descriptor, select.POLLIN)
        if self.flush_at is not None and now >= self.flush_at:
            self.flush_at = None
            self.output.flush()

    def _pause(self):
        self.paused_until = time.monotonic() + (PAUSE_IDLE if self.output is None else PAUSE_RUNNING)
        self._stop_reading("stdout")
        if self.output is None:
            self._stop_reading("stderr")

    def _stop_reading(self, name):
        try:
            self.poller.unregister(self.pipes[name])
        except KeyError:
            return  # Not being read as it is
