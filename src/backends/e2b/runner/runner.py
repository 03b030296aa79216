"""The runner inside an IPython kernel: the worker's language and output rules, without the worker's processes.

`install` is called once by the warm-up cell. Each later cell is one call of `run` with a request as JSON text.
What comes of it goes out as display data under a private MIME type (see recorder.py).
"""

from .pristine import BUILTINS as __builtins__

import _signal
import _thread
import asyncio
import base64
import builtins
import json
import os
import pwd
import re
import subprocess
import sys
import time
import warnings

from . import libraries, pristine
from .capture import Streams
from .changes import Changes
from .language import Session
from .recorder import Recorder

MIME = "application/vnd.edge-python-repl+json"
INSTALL_SECONDS = 300
REST_SECONDS = 0.02
YIELD_SECONDS = 0.001
STOPPED = {"name": "KeyboardInterrupt", "message": "", "traceback": "KeyboardInterrupt"}


class Kernel:
    def __init__(self, shell, settings):
        self.shell = shell
        self.nonce = settings["nonce"]
        self.main_thread = _thread.get_ident()
        self.armed = self.resting = self.interrupted = self.pausing = False
        self.recorder = Recorder()
        self.streams = Streams(self.recorder)
        self.changes = Changes()
        self.publisher = shell.display_pub.publish
        self.input = getattr(getattr(shell, "kernel", None), "_sys_raw_input", None) or builtins.input
        self.session = Session(self.emit)
        self.session.at_cell_end = self.at_cell_end
        self.display_hook = sys.displayhook
        self.damaged = pristine.whole_builtins()
        self.loops = Loops()
        self.damaged.__enter__()

    def prepare_libraries(self):
        libraries.install(self.emit, self.session.main, self.streams.flush)

    # Output

    def publish(self, text):
        """Sends a message; the pause lets the thread that does so run before code that keeps the others out."""
        pauses = self.armed and _thread.get_ident() == self.main_thread
        self.pausing = pauses
        with pristine.whole_builtins():
            self.publisher({MIME: text})
        if pauses:
            time.sleep(YIELD_SECONDS)
            self.pausing = False

    def foreign(self, data=None, metadata=None, **_options):
        """What libraries show through IPython itself; takes the place of the shell's own publisher."""
        self.emit("display_data", {mime: as_text(mime, item) for mime, item in (data or {}).items()})

    def emit(self, kind, data):
        if self.streams.child:
            return
        self.streams.flush()
        with self.recorder.lock:
            self.streams.drain()
            self.recorder.display(kind, data)
        self.recorder.let_interrupt()

    def at_cell_end(self):
        if not self.streams.child:
            libraries.show_figures(self.emit)

    # Cells

    def run(self, text):
        """Runs a cell once: the same cell asked for again only has its output sent again."""
        request = json.loads(text)
        if request["nonce"] != self.nonce:
            return self.refuse(request, "The kernel belongs to another session")
        if self.recorder.again(request["cell"], request["from"], self.publish):
            return None
        self.recorder.begin(request["cell"], request["head"], request["tail"], self.publish)
        self.streams.restore()
        self.interrupted = False
        self.changes.begin(folder())
        result = {"status": "error", "error": STOPPED}
        with self.loops:
            try:
                result = self.guarded(request)
            except BaseException:  # an interrupt in the few lines of ours around the cell
                self.armed = False
        if self.streams.child:
            self.end_child(result)
        libraries.flush_native()
        self.streams.restore()
        self.streams.flush()
        self.streams.drain()
        cwd = folder()
        files = self.changes.end(cwd)
        self.recorder.end({"type": "done", "cwd": cwd, "interrupted": self.interrupted, **files, **result})
        self.rest()
        return None

    def guarded(self, request):
        """Runs the code with builtins, hooks and signals as a plain interpreter has them."""
        hidden = {"input": self.input, "exit": Quitter("exit"), "quit": Quitter("quit")}
        before = {name: getattr(builtins, name, None) for name in hidden}
        builtins.__dict__.update(hidden)
        self.damaged.__exit__()
        sys.displayhook = self.display_hook  # IPython puts its own in place for each cell, and back afterwards
        handler = _signal.signal(_signal.SIGINT, self.on_interrupt)
        try:
            self.armed = True
            limit = request["head"] + request["tail"]
            return self.session.run(request["code"], request["number"], request["path"], limit)
        finally:
            self.armed = False
            _signal.signal(_signal.SIGINT, handler)
            self.damaged.__enter__()
            for name, value in before.items():
                if builtins.__dict__.get(name) is hidden[name]:
                    builtins.__dict__[name] = value

    def on_interrupt(self, _number, _frame):
        if self.streams.child:
            raise KeyboardInterrupt
        if self.pausing:  # what was just sent may be the cause: the print that sent it is to return first
            _thread.start_new_thread(self.interrupt_again, ())
        elif self.armed or self.resting:
            self.interrupted = True
            self.recorder.on_interrupt()

    def interrupt_again(self):
        time.sleep(4 * YIELD_SECONDS)
        if self.armed:
            _signal.pthread_kill(self.main_thread, _signal.SIGINT)

    def end_child(self, result):
        """A process that user code has forked, and that came to the end of the cell, ends here as a script would."""
        status = 0
        if result["status"] != "ok":
            error = self.session.last_error
            status = 1
            if isinstance(error, SystemExit):
                status = error.code if isinstance(error.code, int) else 0 if error.code is None else 1
            else:
                sys.stderr.write(result["error"]["traceback"] + "\n")
        try:
            self.streams.stdout.flush()
        finally:
            os._exit(status & 255)

    def refuse(self, request, message):
        item = {"type": "done", "status": "refused", "code": "INTERNAL", "message": message, "cwd": folder()}
        self.publish(json.dumps({"cell": request["cell"], "seq": request["from"], "items": [item]}))

    # Between cells

    def rest(self):
        """Lets the tasks that cells have left in their event loop go on while the kernel's own loop has nothing to do."""
        cells = self.session.loop
        if cells is not None and self.loops.loop is not None and cells.has_tasks():
            self.loops.loop.call_later(REST_SECONDS, self.rest_once)

    def rest_once(self):
        cells = self.session.loop
        if self.armed or not cells.has_tasks():
            return
        handler = _signal.signal(_signal.SIGINT, self.on_interrupt)
        with self.loops:
            self.resting = True
            try:
                cells.loop.call_soon(cells.loop.stop)
                cells.loop.run_forever()
            except BaseException:  # an interrupt; what a task raises stays in the task
                self.interrupted = False
            finally:
                self.resting = False
                _signal.signal(_signal.SIGINT, handler)
        self.rest()


class Quitter:
    """`exit` and `quit` as CPython has them; IPython takes them away while it runs a cell."""

    def __init__(self, name):
        self.name = name

    def __repr__(self):
        return "Use %s() or Ctrl-D (i.e. EOF) to exit" % self.name

    def __call__(self, code=None):
        raise SystemExit(code)


class Loops:
    """While entered, no loop runs in this thread, as in a plain interpreter, although the kernel's own loop does.

    User code has an event loop policy of its own, so that what it makes current never is the kernel's.
    """

    def __init__(self):
        self.get = getattr(asyncio.events, "_get_event_loop_policy", asyncio.get_event_loop_policy)
        self.set = getattr(asyncio.events, "_set_event_loop_policy", asyncio.set_event_loop_policy)
        self.swap = getattr(asyncio.tasks, "_swap_current_task", None)
        self.users = type(self.get())()

    def __enter__(self):
        self.kernels, self.loop = self.get(), asyncio._get_running_loop()
        self.task = self.swap(self.loop, None) if self.swap and self.loop else None
        asyncio._set_running_loop(None)
        self.set(self.users)

    def __exit__(self, *_exception):
        self.users = self.get()
        self.set(self.kernels)
        asyncio._set_running_loop(self.loop)
        if self.task is not None:
            self.swap(self.loop, self.task)


def as_text(mime, content):
    """Text as is, JSON types as JSON text, all others base64: the form of all bundles of ours."""
    if isinstance(content, bytes):
        return base64.b64encode(content).decode("ascii")
    return content if isinstance(content, str) else json.dumps(content, default=repr)


def folder():
    try:
        return os.getcwd()
    except OSError:
        return "/"


def install(shell, settings):
    """Makes this kernel ours and tells what it is; a bad folder is told instead."""
    kernel = Kernel(shell, settings)
    item = prepare(kernel, settings)
    shell.display_pub.publish = kernel.foreign
    kernel.publish(json.dumps({"cell": settings["nonce"], "seq": 0, "items": [item]}))
    return kernel


def prepare(kernel, settings):
    try:
        if settings["cwd"] is not None:
            os.chdir(settings["cwd"])
    except OSError as error:
        text = "%s is not a folder of the sandbox that can be entered (%s)" % (json.dumps(settings["cwd"]), error.strerror)
        return {"type": "done", "status": "refused", "code": "INVALID_CWD", "message": text, "cwd": folder()}
    os.environ["PWD"] = folder()
    note, identity = watch(settings["watcher"]), kernel_id()
    failed = install_packages(settings["packages"])
    undo_image_hook()
    sys.argv[:] = [""]
    if sys.path[:1] != [""]:
        sys.path.insert(0, "")
    kernel.streams.install()
    kernel.recorder.start_ticker()
    kernel.prepare_libraries()
    warnings.filterwarnings("ignore", r"This process \(pid=\d+\) is multi-threaded", DeprecationWarning)  # by our threads
    if failed:
        kernel.streams.printed("stderr", failed)
    return {
        "type": "ready", "python": "%d.%d.%d" % sys.version_info[:3], "executable": sys.executable,
        "user": pwd.getpwuid(os.getuid()).pw_name, "pid": os.getpid(), "cwd": folder(), "kernel": identity,
        "deathNote": note,
    }


def kernel_id():
    """The Jupyter server's name for this kernel, from the name of the connection file; empty when there is none."""
    found = re.search(r"kernel-([0-9A-Za-z-]+)\.json", " ".join(sys.argv))
    return found.group(1) if found else ""


def watch(source):
    """Starts the watcher and returns the file in which it will say how this process ended."""
    folder_of_notes = os.environ.get("TMPDIR") or "/tmp"
    note = "%s/.edge-repl-%d-%s" % (folder_of_notes, os.getpid(), os.urandom(6).hex())
    subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", source, str(os.getpid()), note], start_new_session=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )
    return note


def install_packages(requirements):
    """Returns a sentence when that failed: the kernel is of use without them."""
    if not requirements:
        return None
    command = [sys.executable, "-m", "pip", "install", "--no-input", "--disable-pip-version-check", "-q",
               "--root-user-action=ignore", "--", *requirements]
    names = ", ".join(requirements)
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              timeout=INSTALL_SECONDS)
    except subprocess.TimeoutExpired:
        return "Could not install %s in this sandbox: it took more than %d s\n" % (names, INSTALL_SECONDS)
    if done.returncode == 0:
        return None
    lines = done.stdout.decode("utf-8", "replace").strip().splitlines()
    return "Could not install %s in this sandbox: %s\n" % (names, lines[-1] if lines else "pip failed")


def undo_image_hook():
    """E2B's template shows each PIL image that is saved; plain Python does not."""
    image = getattr(sys.modules.get("PIL.Image"), "Image", None)
    save = getattr(image, "save", None)
    original = getattr(save, "__globals__", {}).get("original_save")
    if original is not None:
        image.save = original
