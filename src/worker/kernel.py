"""The kernel: one cell after the other, in the main thread, in a real `__main__`."""

from .pristine import BUILTINS as __builtins__

import _signal
import marshal
import os
import select
import sys

from . import links
from .language import Session
from .streams import streams


def run_kernel(ends, tag, settings):
    """Serves cells until the monitor asks for the end or is gone; then returns, and the interpreter ends normally."""
    os.setsid()
    links.die_with(links.move_high(ends["life"]), _signal.SIGKILL)
    streams.open(ends, tag)
    _limit_memory(int(settings.get("EDGE_REPL_MEMORY_MB") or 0))
    kernel = Kernel(links.move_high(ends["commands"]), links.move_high(ends["asked"]))
    kernel.report_ready()
    while True:
        command = kernel.next_command()
        if command is None:
            return
        kernel.execute(*command)


def _limit_memory(megabytes):
    if megabytes > 0:
        import resource

        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, hard))


class Kernel:
    def __init__(self, commands, asked):
        self.commands = commands
        self.asked = asked
        os.set_blocking(asked, False)
        self.armed = False
        self.interrupted = False
        self.users_handler = None
        self.session = Session(self.emit)
        _signal.signal(_signal.SIGINT, self.on_interrupt)

    def report_ready(self):
        version = "%d.%d.%d" % sys.version_info[:3]
        about = {"python": version, "executable": sys.executable, "cwd": os.getcwd()}
        streams.link.send(("ready", about))

    def next_command(self):
        """Returns the next cell, or None when there will be none. No signal handler can tear it."""
        while True:
            try:
                select.select([self.commands], [], [])
                break
            except BaseException:
                continue  # A leftover signal handler of user code raised
        mask = _signal.pthread_sigmask(_signal.SIG_BLOCK, _signal.valid_signals())
        try:
            size = int.from_bytes(self._read(8), "big")
            return marshal.loads(self._read(size)) if size else None
        finally:
            _signal.pthread_sigmask(_signal.SIG_SETMASK, mask)

    def _read(self, size):
        data = b""
        while len(data) < size:
            piece = os.read(self.commands, size - len(data))
            if not piece:
                os._exit(1)
            data += piece
        return data

    def execute(self, cell_id, code, number, path, shown):
        self.cell_id = cell_id
        streams.restore()
        self._was_asked()
        self.interrupted = False
        if _signal.getsignal(_signal.SIGINT) != self.on_interrupt:
            self.users_handler = _signal.signal(_signal.SIGINT, self.on_interrupt)
        self.armed = True
        try:
            result = self.session.run(code, number, path, shown)
        finally:
            self.armed = False
        streams.flush()
        result["cwd"] = os.getcwd()
        streams.link.send(("done", cell_id, result, self.interrupted))

    def emit(self, kind, data):
        """Shows a MIME bundle, after all that was printed before."""
        streams.flush()
        streams.link.round_trip("display", self.cell_id, kind, data)

    def on_interrupt(self, number, frame):
        asked = self._was_asked()
        if not asked and callable(self.users_handler):
            self.users_handler(number, frame)
        elif self.armed:
            self.interrupted = self.interrupted or asked
            raise KeyboardInterrupt

    def _was_asked(self):
        """Takes note of the monitor's interrupts; returns whether there was one since the last call."""
        try:
            return bool(os.read(self.asked, 512))
        except BlockingIOError:
            return False
