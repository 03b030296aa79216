"""Drives the real worker by its frame protocol, as the server does."""

import json
import os
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest

MAIN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "src", "worker", "main.py")
LIMIT = 20  # Seconds that any single wait may take


class Reply:
    """What came of one cell."""

    def __init__(self, frames):
        self.frames = frames
        self.end = frames[-1]
        self.status = self.end.get("status", self.end["type"])
        self.streams = [frame for frame in frames if frame["type"] == "stream" and not frame.get("late")]
        self.late = "".join(frame["text"] for frame in frames if frame.get("late"))
        self.text = "".join(frame["text"] for frame in self.streams)
        self.stdout = "".join(frame["text"] for frame in self.streams if frame["name"] == "stdout")
        self.stderr = "".join(frame["text"] for frame in self.streams if frame["name"] == "stderr")
        self.dropped = sum(frame.get("dropped", 0) for frame in frames if frame["type"] == "stream")
        self.bundles = [frame["data"] for frame in frames if frame["type"] in ("display_data", "execute_result")]
        values = [frame["data"]["text/plain"] for frame in frames if frame["type"] == "execute_result"]
        self.value = values[-1] if values else None
        self.error = self.end.get("error") or {}
        self.traceback = self.error.get("traceback", "")

    @property
    def order(self):
        """What was shown, in order: runs of printed text with their stream, and values."""
        shown = []
        for frame in self.frames:
            if frame["type"] == "stream" and shown and shown[-1][0] == frame["name"]:
                shown[-1] = (frame["name"], shown[-1][1] + frame["text"])
            elif frame["type"] == "stream":
                shown.append((frame["name"], frame["text"]))
            elif "data" in frame:
                shown.append(("value", frame["data"]["text/plain"]))
        return shown


class Worker:
    """One worker process. `close` leaves nothing of it behind."""

    def __init__(self, cwd=None, head=65536, tail=65536, **environment):
        self.bounds = {"head": head, "tail": tail}
        self.number = 0
        self.process = subprocess.Popen(
            [sys.executable, "-X", "utf8", MAIN],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=cwd,
            env=dict(os.environ, **environment),
            start_new_session=True,
        )
        self.ready = self.receive()

    def close(self):
        self.process.stdin.close()
        self.process.wait(LIMIT)
        faults = self.process.stderr.read().decode("utf-8", "replace")
        self.process.stdout.close()
        self.process.stderr.close()
        return faults

    def send(self, op, **fields):
        body = json.dumps(dict(fields, op=op)).encode("ascii")
        self.process.stdin.write(struct.pack(">I", len(body)) + body)
        self.process.stdin.flush()

    def _read(self, size):
        data = b""
        end = time.monotonic() + LIMIT
        descriptor = self.process.stdout.fileno()
        while len(data) < size:
            if not select.select([descriptor], [], [], max(0, end - time.monotonic()))[0]:
                raise AssertionError("The worker was silent for %d s" % LIMIT)
            piece = os.read(descriptor, size - len(data))
            if not piece:
                return None
            data += piece
        return data

    def receive(self):
        """Returns the next frame, or None at the end."""
        head = self._read(4)
        return json.loads(self._read(struct.unpack(">I", head)[0]).decode("ascii")) if head else None

    def start(self, code="", path=None):
        self.number += 1
        fields = dict(self.bounds, id=self.number, code=code, number=self.number)
        if path is not None:
            fields["path"] = path
        self.send("execute", **fields)

    def finish(self):
        frames = []
        while not frames or frames[-1]["type"] not in ("done", "died"):
            frame = self.receive()
            if frame is None:
                raise AssertionError("The worker ended without a last word after %r" % frames)
            frames.append(frame)
        return Reply(frames)

    def run(self, code="", path=None):
        self.start(code, path)
        return self.finish()

    def interrupt(self, grace=2):
        self.send("interrupt", id=self.number, grace=grace)
        return self.finish()

    def wait_for_text(self, wanted):
        """Reads frames of the running cell until it has printed `wanted`."""
        text = ""
        while wanted not in text:
            text += self.receive().get("text", "")


class WorkerCase(unittest.TestCase):
    """Each test has a worker of its own, `self.worker`, made at its first use."""

    def setUp(self):
        self.workers = []

    def tearDown(self):
        for worker in self.workers:
            self.assertEqual(worker.close(), "", "the monitor reported a fault")

    def make(self, **options):
        worker = Worker(**options)
        self.workers.append(worker)
        return worker

    @property
    def worker(self):
        return self.workers[0] if self.workers else self.make()

    def run_cells(self, *cells):
        """Runs cells in turn and returns the last reply; all others must succeed."""
        for code in cells[:-1]:
            reply = self.worker.run(code)
            self.assertEqual(reply.status, "ok", reply.traceback)
        return self.worker.run(cells[-1])

    def assertValue(self, wanted, *cells):
        reply = self.run_cells(*cells)
        self.assertEqual(reply.status, "ok", reply.traceback or reply.end)
        self.assertEqual(reply.value, wanted)

    def assertError(self, name, *cells):
        reply = self.run_cells(*cells)
        self.assertEqual(reply.status, "error", str(reply.frames)[:2000])
        self.assertEqual(reply.error["name"], name, reply.traceback)
        self.assertNotIn("_edge_repl", reply.traceback)
        self.assertNotIn(os.path.join("src", "worker"), reply.traceback)
        return reply

    def folder(self):
        path = os.path.realpath(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, path, ignore_errors=True)
        return path


def wait_until(condition, what):
    """Waits for `condition()`, for at most LIMIT seconds."""
    end = time.monotonic() + LIMIT
    while not condition():
        if time.monotonic() > end:
            raise AssertionError("Never happened: " + what)
        time.sleep(0.01)


def is_running(pid):
    try:
        with open("/proc/%d/stat" % pid) as file:
            return file.read().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def kill(pid):
    os.kill(pid, signal.SIGKILL)
