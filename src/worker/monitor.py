"""The monitor: stands between the server and the kernel, reads what user code writes, and ends what must end."""

from .pristine import BUILTINS as __builtins__

import _signal
import marshal
import os
import select
import time

from . import links, tree
from .changes import Changes
from .frames import take_frames, to_frame
from .output import CellOutput
from .printed import Printed
from .pristine import own

BROKEN = "protocol broken by the code that ran"
SHUT_DOWN = "shut down while it ran"
SIGNAL_SECONDS = 0.3
SUBREAPER_SECONDS = 0.02
SERVER_BACKLOG_BYTES = 4 << 20


def run_monitor(pid, ends, tag, settings):
    """Serves until the kernel or the server is gone, then ends this process."""
    monitor = Monitor(pid, ends, tag, settings)
    try:
        monitor.serve()
    except _Finished:
        status = 0
    except BaseException:
        status = 1
        _report_fault()
    tree.kill_descendants(os.getpid(), pid)
    os._exit(status)


def _report_fault():
    import traceback

    os.write(2, traceback.format_exc().encode("utf-8", "backslashreplace"))


class _Finished(Exception):
    """All is said and done; the process may end."""


class _Cell:
    def __init__(self, number):
        self.id = number
        self.interrupted = False
        self.group_signalled = False
        self.signal_at = None
        self.kill_at = None


class Monitor:
    def __init__(self, pid, ends, tag, settings):
        self.pid = pid
        self.ends = ends
        self.settings = settings
        self.assembler = links.Assembler(tag)
        self.poller = select.poll()
        self.printed = Printed(self.poller, ends["stdout"], ends["stderr"])
        self.cell = None
        self.cwd = os.getcwd()
        self.changes = Changes(settings.get("EDGE_REPL_ROOT"))
        self.from_server = bytearray()
        self.to_server = bytearray()
        self.to_kernel = bytearray()
        self.held_acks = []
        self.closing_at = None
        self.subreaper_at = None  # Not before the first cell: it costs more than a start may
        self.subreaper = False
        self.lower_at = None
        self.statuses = {}
        self.wakeup = None

    def serve(self):
        self._prepare()
        handlers = {
            0: self._on_server_input,
            1: self._on_server_writable,
            self.wakeup: self._on_signal,
            self.ends["reports"]: self._on_reports,
            self.ends["commands"]: self._on_kernel_writable,
            self.ends["stdout"]: self.printed.on_readable,
            self.ends["stderr"]: self.printed.on_readable,
        }
        while True:
            for descriptor, event in self.poller.poll(self._wait_ms()):
                handlers[descriptor](event)
            self._on_time(time.monotonic())

    def _prepare(self):
        os.set_blocking(1, False)
        for name in ("reports", "commands"):
            os.set_blocking(self.ends[name], False)
        self.wakeup, wake = os.pipe()
        os.set_blocking(self.wakeup, False)
        os.set_blocking(wake, False)
        _signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
        for number in (_signal.SIGCHLD, _signal.SIGTERM, _signal.SIGHUP):
            _signal.signal(number, lambda *_: None)
        _signal.signal(_signal.SIGINT, _signal.SIG_IGN)
        for descriptor in (0, self.wakeup, self.ends["reports"]):
            self.poller.register(descriptor, select.POLLIN)

    # Time

    def _wait_ms(self):
        moments = [self.printed.paused_until, self.printed.flush_at, self.closing_at, self.subreaper_at, self.lower_at]
        if self.cell:
            moments += [self.cell.signal_at, self.cell.kill_at]
        moments = [moment for moment in moments if moment is not None]
        if not moments:
            return None
        return max(0, min(moments) - time.monotonic()) * 1000 + 1

    def _on_time(self, now):
        self.printed.on_time(now)
        if self.subreaper_at is not None and now >= self.subreaper_at:
            self._become_subreaper()
        if self.lower_at is not None and now >= self.lower_at:
            self._lower_groups()
        if self.closing_at is not None and now >= self.closing_at:
            self._end_kernel()
        cell = self.cell
        if cell is None:
            return
        if cell.kill_at is not None and now >= cell.kill_at:
            self._end_kernel(aborted=True)
        elif cell.signal_at is not None and now >= cell.signal_at:
            self._signal_again(now)

    def _become_subreaper(self):
        self.subreaper_at, self.subreaper = None, True
        tree.become_subreaper()
        own("deaths").note_state()

    def _lower_groups(self):
        self.lower_at = own("priority").lower_groups(os.getpid(), self.pid)

    # Server

    def _on_server_input(self, event):
        data = os.read(0, 1 << 16)
        if not data:
            raise _Finished
        self.from_server += data
        for frame in take_frames(self.from_server):
            self._on_frame(frame)

    def _on_frame(self, frame):
        op = frame.get("op")
        if op == "execute":
            self._execute(frame)
        elif op == "interrupt":
            self._interrupt(frame)
        elif op == "shutdown":
            self._shutdown(frame)
        else:
            self._file_operation(frame)

    def send(self, *frames):
        for frame in frames:
            self.to_server += to_frame(frame)
        self._on_server_writable(0)

    def _on_server_writable(self, event):
        try:
            while self.to_server:
                del self.to_server[: os.write(1, self.to_server[: 1 << 20])]
        except BlockingIOError:
            self.poller.register(1, select.POLLOUT)
        except OSError as error:
            raise _Finished from error
        else:
            if event:
                self.poller.unregister(1)
        if self.held_acks and len(self.to_server) < SERVER_BACKLOG_BYTES:
            held, self.held_acks = self.held_acks, []
            for number in held:
                self._ack(number)

    def _file_operation(self, frame):
        root = self.settings.get("EDGE_REPL_ROOT")
        reply = own("files").answer(frame, self._kernel_cwd(), root)
        if "replaced" in reply:
            self.changes.note(reply["path"])
        self.send(reply)

    def _kernel_cwd(self):
        try:
            return os.readlink("/proc/%d/cwd" % self.pid)
        except OSError:
            return self.cwd

    # Cells

    def _execute(self, frame):
        if self.cell is not None:
            raise ValueError("A cell was sent while another one runs")
        cell_id, path = frame["id"], frame.get("path")
        if path is not None and self._refuse(cell_id, path):
            return
        self.cell = _Cell(cell_id)
        output = CellOutput(frame["head"], frame["tail"], self._send_printed)
        for name, text, dropped in self.printed.begin(output):
            self._send_stream(cell_id, name, text, dropped, late=True)
        self.changes.begin(self.cwd)
        self._command((cell_id, frame["code"], frame["number"], path, frame["head"] + frame["tail"]))
        if self.subreaper_at is None and not self.subreaper:
            self.subreaper_at = time.monotonic() + SUBREAPER_SECONDS

    def _refuse(self, number, path):
        root = self.settings.get("EDGE_REPL_ROOT")
        if not root:
            return False
        refusal = own("files").refusal(path, self._kernel_cwd(), root)
        if refusal is None:
            return False
        code, message = refusal
        self.send({"type": "done", "id": number, "status": "refused", "code": code, "message": message, "cwd": self.cwd})
        return True

    def _command(self, message):
        body = marshal.dumps(message) if message else b""
        self.to_kernel += len(body).to_bytes(8, "big") + body
        self._on_kernel_writable(0)

    def _on_kernel_writable(self, event):
        commands = self.ends["commands"]
        try:
            while self.to_kernel:
                del self.to_kernel[: os.write(commands, self.to_kernel)]
        except BlockingIOError:
            self.poller.register(commands, select.POLLOUT)
        except BrokenPipeError:
            self.to_kernel.clear()  # Its end is told by SIGCHLD
        if event and not self.to_kernel:
            self.poller.unregister(commands)

    def _send_printed(self, name, text, dropped):
        self._send_stream(self.cell.id, name, text, dropped)

    def _send_stream(self, number, name, text, dropped, late=False):
        frame = {"type": "stream", "id": number, "name": name, "text": text}
        if late:
            frame["late"] = True
        if dropped:
            frame["dropped"] = dropped
        self.send(frame)

    def _interrupt(self, frame):
        cell = self.cell
        if cell is None or cell.id != frame["id"] or cell.interrupted:
            return
        now = time.monotonic()
        cell.interrupted = True
        cell.signal_at = now + SIGNAL_SECONDS
        cell.kill_at = now + frame["grace"]
        self._send_interrupt(os.kill)

    def _signal_again(self, now):
        self.cell.group_signalled = True
        self.cell.signal_at = now + SIGNAL_SECONDS
        self._send_interrupt(os.killpg)

    def _send_interrupt(self, kill):
        try:
            os.write(self.ends["asked"], b"!")
            kill(self.pid, _signal.SIGINT)
        except OSError:
            self.cell.signal_at = None  # It is just ending, which SIGCHLD tells

    def _shutdown(self, frame):
        if self.cell is not None:
            self._end_kernel(detail=SHUT_DOWN)
        if not self.subreaper:
            self._become_subreaper()  # Before the kernel ends: what left its group would leave the tree with it
        self._command(None)
        self.closing_at = time.monotonic() + frame["grace"]

    # Kernel

    def _on_reports(self, event):
        try:
            data = os.read(self.ends["reports"], 1 << 16)
            messages = self.assembler.feed(data)
        except BlockingIOError:
            return
        except ValueError:
            self._end_kernel(detail=BROKEN)
        if not data:
            self._on_reports_closed()
        for message in messages:
            self._on_report(message)

    def _on_reports_closed(self):
        """The kernel is ending, or user code closed what is not its own."""
        self.poller.unregister(self.ends["reports"])
        end = time.monotonic() + 1
        while self.pid not in self.statuses and time.monotonic() < end:
            tree.reap(self.statuses)
            time.sleep(0.005)
        if self.pid in self.statuses:
            self._end_kernel()
        self._end_kernel(detail=BROKEN)

    def _on_report(self, message):
        kind = message[0]
        if kind == "sync":
            self.printed.drain()
            self._ack(message[1])
        elif kind == "display":
            self._display(*message[1:])
        elif kind == "done":
            self._done(*message[1:])
        elif kind == "ready":
            self.send(dict(message[1], type="ready", pid=self.pid))
            if os.nice(0) > 0:
                self._lower_groups()

    def _ack(self, number):
        if len(self.to_server) >= SERVER_BACKLOG_BYTES:
            self.held_acks.append(number)
            return
        try:
            os.write(self.ends["acks"], number.to_bytes(8, "big"))
        except BrokenPipeError:
            return  # Its end is told by SIGCHLD

    def _display(self, number, cell_id, kind, data):
        self.printed.flush()
        if self.cell is not None and self.cell.id == cell_id:
            self.send({"type": kind, "id": cell_id, "data": data})
        self._ack(number)

    def _done(self, cell_id, result, interrupted, last_word):
        cell = self.cell
        if cell is None or cell.id != cell_id:
            return
        self.printed.end()
        self.assembler.forget_unfinished()
        self.cell = None
        self.cwd = result["cwd"]
        if cell.interrupted and (interrupted or cell.group_signalled) and result["status"] in ("ok", "error"):
            result["status"] = "aborted"
        files = self.changes.end(self.cwd, result.pop("silent"))
        done = dict(result, type="done", id=cell_id, **files)
        if last_word is None:
            self.send(done)
        else:
            self.send({"type": last_word[0], "id": cell_id, "data": last_word[1]}, done)

    def _on_signal(self, event):
        numbers = os.read(self.wakeup, 512)
        if _signal.SIGTERM in numbers or _signal.SIGHUP in numbers:
            raise _Finished
        tree.reap(self.statuses)
        if self.pid in self.statuses:
            self._end_kernel()
        self.statuses.clear()

    # The end

    def _end_kernel(self, aborted=False, detail=None):
        """Kills what is left of the tree, sends what it had written, tells why, and finishes."""
        cwd = self._kernel_cwd()
        self.statuses.update(tree.kill_descendants(os.getpid(), self.pid))
        if detail is None:
            self._read_last_reports()
        while self.printed.drain():
            continue
        cell_id, files = None, {}
        if self.cell is not None:
            cell_id = self.cell.id
            self.printed.end()
            files = self.changes.end(cwd)
        if self.closing_at is None:
            detail = detail or own("deaths").describe(self.statuses.get(self.pid), aborted)
            self.send(dict(files, type="died", id=cell_id, detail=detail, aborted=aborted))
        os.set_blocking(1, True)
        self._on_server_writable(0)
        raise _Finished

    def _read_last_reports(self):
        while True:
            try:
                data = os.read(self.ends["reports"], 1 << 16)
                messages = self.assembler.feed(data)
            except (BlockingIOError, ValueError):
                return
            if not data:
                return
            for message in messages:
                self._on_report(message)
