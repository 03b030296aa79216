"""The kernel: one cell after the other, in the main thread, in a real `__main__`."""

from .pristine import BUILTINS as __builtins__

import _signal
import marshal
import os
import select
import sys

from . import links
from .pristine import own
from .streams import streams
from .traces import Traces

STOPPED = {"name": "KeyboardInterrupt", "message": "", "traceback": "KeyboardInterrupt"}
_ALL_SIGNALS = _signal.valid_signals()


def run_kernel(ends, tag, settings):
    """Serves cells until the monitor asks for the end; then returns, and the interpreter ends as ever."""
    os.setsid()
    ends = {name: links.move_high(descriptor) for name, descriptor in ends.items()}
    links.die_with(ends["life"], _signal.SIGKILL)
    streams.open(ends, tag)
    _limit_memory(int(settings.get("EDGE_REPL_MEMORY_MB") or 0))
    kernel = Kernel(ends)
    _report_ready()
    kernel.load()
    while True:
        command = kernel.next_command()
        if command is None:
            return
        kernel.execute(*command)


def _report_ready():
    version = "%d.%d.%d" % sys.version_info[:3]
    streams.link.send(("ready", {"python": version, "executable": sys.executable, "cwd": os.getcwd()}))


def _limit_memory(megabytes):
    if megabytes > 0:
        import resource

        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, hard))


def _told_in_short(error):
    name = type(error).__name__
    text = "%s: %s" % (name, error)
    return {"name": name, "message": str(error), "traceback": text}


def _plain(data):
    """Makes real strings of what may be instances of subclasses, which cannot be sent."""
    return {str.__str__(mime): str.__str__(text) for mime, text in data.items()}


class Kernel:
    def __init__(self, ends):
        self.commands = ends["commands"]
        self.asked = ends["asked"]
        os.set_blocking(self.asked, False)
        self.poller = select.poll()
        self.poller.register(self.commands, select.POLLIN)
        self.cell_id = None
        self.last_word = None  # Kind and bundle of the value that ends the cell, until they are sent
        self.cwd = os.getcwd()
        self.traces = Traces()
        self.armed = False  # User code runs that an interrupt is to stop
        self.resting = False  # Tasks of the event loop run between two cells
        self.interrupted = False
        self.handler = self.on_interrupt
        self.users_handler = None
        _signal.signal(_signal.SIGINT, self.handler)

    def load(self):
        """Imports what cells need, while the server already knows that this kernel is there."""
        sys.argv = [""]
        sys.path.insert(0, "")
        self.libraries = own("libraries")
        self.session = own("language").Session(self.emit)
        self.session.emit_last = self.emit_last
        self.session.at_cell_end = self.at_cell_end
        self.libraries.install(self.emit, self.session.main, streams.before_child)
        own("compiling")

    # Commands

    def next_command(self):
        """Returns the next cell, or None when there will be none. No signal handler can tear it."""
        self._wait()
        mask = _signal.pthread_sigmask(_signal.SIG_BLOCK, _ALL_SIGNALS)
        try:
            data = self._read(bytearray(), 8)
            size = int.from_bytes(data[:8], "big")
            return marshal.loads(memoryview(self._read(data, 8 + size))[8:]) if size else None
        finally:
            _signal.pthread_sigmask(_signal.SIG_SETMASK, mask)

    def _wait(self):
        """Waits for a command; meanwhile the tasks that cells have left in the event loop go on."""
        pause = None
        while True:
            try:
                if pause is None:
                    self._rest()
                if self.poller.poll(pause):
                    return
                pause = None
            except BaseException:  # A leftover signal handler or task of user code raised
                pause = 50

    def _rest(self):
        loop = self.session.loop
        if loop is not None and loop.has_tasks():
            self.resting = True
            try:
                loop.rest(self.commands)
            finally:
                self.resting = False

    def _read(self, data, size):
        """Adds to `data` until it has `size` bytes; more are never there, since commands come one at a time."""
        while len(data) < size:
            piece = os.read(self.commands, 1 << 16)
            if not piece:
                os._exit(1)
            data += piece
        return data

    # Cells

    def execute(self, cell_id, code, number, path, limit):
        self.cell_id = cell_id
        self.last_word = None
        self.interrupted = False
        result = {"status": "error", "error": STOPPED}
        try:
            self._prepare()
            self.armed = True
            try:
                result = self.session.run(code, number, path, limit)
            finally:
                self.armed = False
        except BaseException as error:  # An interrupt in the few lines of ours around the cell, or a fault of ours
            self.armed = False
            if not isinstance(error, KeyboardInterrupt):
                result["error"] = _told_in_short(error)
        if streams.child:
            self._end_child(result)
        self._take_back_signal()
        self.libraries.flush_native()
        streams.flush()
        result["cwd"] = self._where()
        result["silent"] = self.traces.silent(streams.writes)
        streams.link.send(("done", cell_id, result, self.interrupted, self._take_last_word()))

    def _prepare(self):
        streams.restore()
        self._was_asked()
        self._take_back_signal()

    def _take_back_signal(self):
        """Our handler stands before the one of user code, which it calls for signals that are not the monitor's."""
        current = _signal.getsignal(_signal.SIGINT)
        if current is not self.handler:
            self.users_handler = current
            _signal.signal(_signal.SIGINT, self.handler)

    def _where(self):
        try:
            self.cwd = os.getcwd()
        except OSError:
            return self.cwd  # The folder is gone
        return self.cwd

    def at_cell_end(self):
        if streams.child:
            return
        if "matplotlib.pyplot" in sys.modules:
            self._send_last_word()  # Drawing may print
        self.libraries.show_figures(self.emit)

    def emit(self, kind, data):
        """Shows a MIME bundle, after all that was printed before."""
        if streams.child:
            return
        self._send_last_word()
        streams.flush()
        streams.link.round_trip("display", self.cell_id, kind, _plain(data))

    def emit_last(self, kind, data):
        """Shows the value that ends the cell. No code of the cell follows, so it goes with the report of the end."""
        if streams.child:
            return
        self._send_last_word()
        streams.flush()
        self.last_word = (kind, _plain(data))

    def _take_last_word(self):
        with streams.link.lock:
            last_word, self.last_word = self.last_word, None
        return last_word

    def _send_last_word(self):
        last_word = self._take_last_word()
        if last_word is not None:
            streams.link.round_trip("display", self.cell_id, *last_word)

    def _end_child(self, result):
        """A process that user code has forked, and that came to the end of the cell, ends here as a script would."""
        status, text = 0, ""
        if result["status"] != "ok":
            error = self.session.last_error
            status = 1
            if isinstance(error, SystemExit):
                status = error.code if isinstance(error.code, int) else 0 if error.code is None else 1
            else:
                text = result["error"]["traceback"] + "\n"
        try:
            streams.stderr.write(text)
            streams.flush()
        finally:
            os._exit(status & 255)

    # Interrupts

    def on_interrupt(self, number, frame):
        asked = self._was_asked()
        if streams.child:
            raise KeyboardInterrupt
        if asked:
            if self.armed or self.resting:
                self.interrupted = True
                raise KeyboardInterrupt
        elif callable(self.users_handler):
            self.users_handler(number, frame)
        elif self.armed and self.users_handler != _signal.SIG_IGN:
            raise KeyboardInterrupt

    def _was_asked(self):
        """Takes note of the monitor's interrupts; returns whether there was one since the last call."""
        try:
            return bool(os.read(self.asked, 512))
        except OSError:
            return False
