"""A Python kernel for the stand-in: what an IPython kernel does, as far as a client of E2B can see it.

One process per context. Requests are JSON lines on descriptor 3, messages are JSON lines on descriptor 4;
both speak Jupyter's messaging vocabulary. Code runs in the main thread inside a running asyncio loop.
Kept on purpose: streams are buffered for 0.2 s each on its own, so that their order is lost; descriptors 1
and 2 are read by a thread; SIGINT is ignored between cells; requests that arrive within 0.1 s of an interrupted
cell are answered `aborted`.
"""

import ast
import asyncio
import base64
import builtins
import inspect
import json
import os
import queue
import signal
import sys
import threading
import time
import traceback
import types

FLUSH_INTERVAL = 0.2
ABORT_WINDOW = 0.1
POLL_SECONDS = 0.25
SHELL = types.SimpleNamespace()


class Wire:
    """Messages to the stand-in; any thread may send."""

    def __init__(self):
        os.set_inheritable(3, False)
        os.set_inheritable(4, False)
        self._lock = threading.Lock()
        self.parent = None

    def send(self, kind, **content):
        line = json.dumps({"msg": kind, "parent": self.parent, **content}) + "\n"
        data = line.encode()
        with self._lock:
            while data:
                data = data[os.write(4, data):]


class OutStream:
    """sys.stdout or sys.stderr: buffered, flushed by a timer, as ipykernel's is."""

    encoding = "utf-8"
    errors = "replace"

    def __init__(self, wire, name, descriptor):
        self._wire, self.name, self._descriptor = wire, name, descriptor
        self._parts, self._lock = [], threading.Lock()

    def write(self, text):
        if not isinstance(text, str):
            raise TypeError("write() argument must be str, not " + type(text).__name__)
        with self._lock:
            self._parts.append(text)
        return len(text)

    def writelines(self, lines):
        for line in lines:
            self.write(line)

    def flush(self):
        with self._lock:
            text = "".join(self._parts)
            self._parts = []
        if text:
            text = text.encode("utf-8", "replace").decode("utf-8")
            self._wire.send("stream", name=self.name, text=text)

    def fileno(self):
        return self._descriptor

    def isatty(self):
        return False

    def writable(self):
        return True


def watch(descriptor, stream):
    """Sends what anybody writes on the descriptor through the stream."""
    reader, writer = os.pipe()
    os.dup2(writer, descriptor)
    os.close(writer)

    def run():
        while True:
            data = os.read(reader, 1024)
            if not data:
                return
            stream.write(data.decode("utf-8", "replace"))

    threading.Thread(target=run, daemon=True).start()


def flusher(streams):
    while True:
        time.sleep(FLUSH_INTERVAL)
        for stream in streams:
            stream.flush()


def bundle_of(value):
    """A MIME bundle of a value by its `_repr_*_` methods; always with text/plain."""
    bundle = {"text/plain": repr(value)}
    methods = {
        "_repr_html_": "text/html", "_repr_markdown_": "text/markdown", "_repr_svg_": "image/svg+xml",
        "_repr_png_": "image/png", "_repr_jpeg_": "image/jpeg", "_repr_latex_": "text/latex",
        "_repr_json_": "application/json",
    }
    for name, mime in methods.items():
        method = getattr(type(value), name, None)
        data = method(value) if method else None
        if isinstance(data, bytes):
            data = base64.b64encode(data).decode()
        if data is not None:
            bundle[mime] = data
    return bundle


def make_shell(wire):
    """The part of IPython's shell object and package that code in a cell reaches for."""

    def publish(data, metadata=None, **_ignored):
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        wire.send("display_data", data=data, metadata=metadata or {})

    def display(*values, raw=False, **_ignored):
        for value in values:
            publish(value if raw else bundle_of(value))

    SHELL.display_pub = types.SimpleNamespace(publish=publish)
    SHELL.events = types.SimpleNamespace(register=lambda *_: None, unregister=lambda *_: None)
    SHELL.enable_gui = lambda *_: None
    package, sub = types.ModuleType("IPython"), types.ModuleType("IPython.display")
    package.get_ipython = lambda: SHELL
    package.version_info = (9, 15, 0, "")
    package.display = sub
    sub.display = display
    sys.modules["IPython"], sys.modules["IPython.display"] = package, sub
    return {"get_ipython": lambda: SHELL, "display": display}


def compile_cell(code, number):
    """Statements and the last expression, each as a code object that may hold a top-level await."""
    flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    name = "/tmp/ipykernel_%d/%d.py" % (os.getpid(), number)
    tree = ast.parse(code, name)
    last = None
    if tree.body and isinstance(tree.body[-1], ast.Expr):
        last = compile(ast.Expression(tree.body.pop().value), name, "eval", flags, True)
    return compile(tree, name, "exec", flags, True), last


async def run_code(code, namespace):
    value = eval(code, namespace)
    if code.co_flags & inspect.CO_COROUTINE:
        task = asyncio.ensure_future(value)
        loop = asyncio.get_running_loop()
        signal.signal(signal.SIGINT, lambda *_: loop.call_soon_threadsafe(task.cancel))
        value = await task
        signal.signal(signal.SIGINT, signal.default_int_handler)
    return value


async def execute(wire, request, namespace, number):
    """Runs one cell and sends all its messages; true when it was not interrupted."""
    wire.parent = request["id"]
    wire.send("status", execution_state="busy")
    wire.send("execute_input", execution_count=number)
    error = None
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        body, last = compile_cell(request["code"], number)
        await run_code(body, namespace)
        if last is not None:
            value = await run_code(last, namespace)
            if value is not None:
                builtins._ = value
                wire.send("execute_result", data=bundle_of(value), execution_count=number)
    except BaseException as caught:  # whatever a cell raises is its own result, SystemExit too
        lines = traceback.format_exception(type(caught), caught, caught.__traceback__)
        error = {"ename": type(caught).__name__, "evalue": str(caught), "traceback": lines}
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    if error:
        wire.send("error", **error)
    wire.send("execute_reply", status="error" if error else "ok", **(error or {}))
    wire.send("status", execution_state="idle")
    return error is None or error["ename"] not in ("KeyboardInterrupt", "CancelledError")


async def serve(wire, requests):
    namespace = sys.modules["__main__"].__dict__
    namespace.update(make_shell(wire))
    number, interrupted_at = 0, -1.0
    loop = asyncio.get_running_loop()
    wire.send("hello", pid=os.getpid(), version=sys.version.split()[0])
    while True:
        request = await loop.run_in_executor(None, requests.get)
        if request is None:
            return
        if request["at"] - interrupted_at < ABORT_WINDOW:
            wire.parent = request["id"]
            wire.send("execute_reply", status="aborted")
            continue
        number += 1
        if not await execute(wire, request, namespace, number):
            interrupted_at = time.monotonic()


def read_requests(requests):
    with os.fdopen(os.dup(3), "r", encoding="utf-8") as lines:
        for line in lines:
            requests.put({**json.loads(line), "at": time.monotonic()})
    os._exit(0)  # the stand-in closed the pipe: nobody is there to answer


def supervise(pid):
    """Stays behind as the parent, as the Jupyter server does: it asks from time to time whether the kernel still lives."""
    while os.waitpid(pid, os.WNOHANG)[0] == 0:
        time.sleep(POLL_SECONDS)
    os._exit(1)


def main():
    pid = os.fork()
    if pid:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        os.close(3)
        os.close(4)
        supervise(pid)
    os.setpgid(0, 0)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    wire, requests = Wire(), queue.Queue()
    streams = [OutStream(wire, "stdout", 1), OutStream(wire, "stderr", 2)]
    for descriptor, stream in ((1, streams[0]), (2, streams[1])):
        watch(descriptor, stream)
    sys.stdout, sys.stderr = streams
    fresh = types.ModuleType("__main__")
    fresh.__dict__["__builtins__"] = builtins
    sys.modules["__main__"] = fresh
    threading.Thread(target=read_requests, args=(requests,), daemon=True).start()
    threading.Thread(target=flusher, args=(streams,), daemon=True).start()
    asyncio.run(serve(wire, requests))


main()
