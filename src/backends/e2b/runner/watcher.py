"""Runs beside a kernel until it ends, and leaves a note of how: `python watcher.py PID FILE`.

A server that restarts dead kernels tells nobody what they died of. Their wait status stands in /proc until the
parent has asked for it, which takes that server some seconds.
"""

import os
import select
import signal
import sys
import time


def wait_for(pid):
    if hasattr(os, "pidfd_open"):
        poller = select.poll()
        poller.register(os.pidfd_open(pid), select.POLLIN)
        poller.poll()
        return
    while state(pid)[0] not in "ZX":
        time.sleep(0.1)


def state(pid):
    with open("/proc/%d/stat" % pid, "rb") as stat:
        fields = stat.read().rpartition(b")")[2].split()
    return fields[0].decode(), int(fields[-1])


def oom_kills():
    """How many processes the system has killed for want of memory; None when that is not known."""
    try:
        with open("/proc/vmstat") as counters:
            return next((line for line in counters if line.startswith("oom_kill ")), None)
    except OSError:
        return None


def describe(status, kills_before):
    if not os.WIFSIGNALED(status):
        return "exited with code %d" % os.WEXITSTATUS(status)
    number = os.WTERMSIG(status)
    text = "killed by " + signal.Signals(number).name
    if number == signal.SIGKILL and (kills_before is None or oom_kills() != kills_before):
        text += ", out of memory is likely"
    return text


def main():
    pid, path = int(sys.argv[1]), sys.argv[2]
    kills_before = oom_kills()
    try:
        wait_for(pid)
        text = describe(state(pid)[1], kills_before)
    except (OSError, ValueError):
        text = "ended for an unknown reason"
    with open(path + ".new", "w") as note:
        note.write(text)
    os.rename(path + ".new", path)


main()
