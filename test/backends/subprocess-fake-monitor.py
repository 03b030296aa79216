"""A monitor that does what FAKE_MONITOR says, to see how the server bears it."""
import json
import os
import signal
import struct
import subprocess
import sys
import time

MODE = os.environ["FAKE_MONITOR"]


def send(**frame):
    body = json.dumps(frame).encode()
    os.write(1, struct.pack(">I", len(body)) + body)


def receive():
    header = sys.stdin.buffer.read(4)
    if len(header) < 4:
        sys.exit(0)
    return json.loads(sys.stdin.buffer.read(struct.unpack(">I", header)[0]))


def on_execute(frame):
    if MODE == "garbage":
        os.write(1, b"\x00\x00\x00\x04oops")
    elif MODE == "huge frame":
        os.write(1, b"\xff\xff\xff\xff")
    elif MODE == "unknown frame":
        send(type="surprise", id=frame["id"])
    elif MODE == "exit":
        send(type="stream", id=frame["id"], name="stdout", text="last words")
        sys.exit(7)
    elif MODE == "other cell":
        send(type="stream", id=999, name="stdout", text="not yours")
        send(type="done", id=999, status="ok")
        send(type="done", id=frame["id"], status="ok")
        send(type="stream", id=frame["id"], name="stdout", text="too late")
    elif MODE == "died and stays":
        send(type="died", id=frame["id"], detail="killed by SIGSEGV", aborted=False)
    elif MODE == "children":
        children = [subprocess.Popen(["sleep", "60"], start_new_session=apart) for apart in (False, True)]
        send(type="stream", id=frame["id"], name="stdout", text=" ".join(str(child.pid) for child in children))
    elif MODE == "environment":
        send(type="stream", id=frame["id"], name="stdout", text=json.dumps([dict(os.environ), sys.argv, sys.flags.utf8_mode]))
        send(type="done", id=frame["id"], status="ok")


def main():
    if MODE == "exits at once":
        print("cannot go on", file=sys.stderr)
        sys.exit(5)
    send(type="ready", python="3.11.0", executable=sys.executable, pid=os.getpid(), cwd=os.getcwd())
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    while True:
        frame = receive()
        if frame["op"] == "execute":
            on_execute(frame)
        elif frame["op"] == "shutdown" and MODE != "died and stays":
            if MODE == "ignores shutdown":
                time.sleep(60)
            sys.exit(0)
        elif frame["op"] == "read" and MODE == "bad reply":
            send(type="reply", id=frame["id"], error={"code": "FILE_NOT_FOUND", "message": "No file x"})


main()
