"""The processes below the monitor, found by their parents, so that none outlives the session."""

from .pristine import BUILTINS as __builtins__

import _signal
import os
import time

PR_SET_CHILD_SUBREAPER = 36


def become_subreaper():
    """Makes orphans of the tree children of this process (Linux). Returns whether the system did so."""
    try:
        import _ctypes

        prctl = _ctypes.dlsym(_ctypes.dlopen(None, 0), "prctl")
        return _ctypes.call_function(prctl, (PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)) == 0
    except (ImportError, AttributeError, OSError):
        return False


def _parents():
    """Returns `{pid: parent}` of all processes that still run (zombies left out)."""
    if not os.path.isdir("/proc/self"):
        return _parents_by_ps()
    parents = {}
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open("/proc/%s/stat" % name, "rb") as file:
                state, parent = file.read().rpartition(b")")[2].split()[:2]
        except (OSError, ValueError):
            continue
        if state not in (b"Z", b"X"):
            parents[int(name)] = int(parent)
    return parents


def _parents_by_ps():
    with os.popen("ps -A -o pid=,ppid=,stat=") as lines:
        rows = [line.split() for line in lines]
    return {int(row[0]): int(row[1]) for row in rows if len(row) > 2 and not row[2].startswith("Z")}


def descendants(root):
    """Returns the pids below `root`, parents before children."""
    children = {}
    for pid, parent in _parents().items():
        children.setdefault(parent, []).append(pid)
    found = []
    waiting = [root]
    while waiting:
        for pid in children.get(waiting.pop(), ()):
            found.append(pid)
            waiting.append(pid)
    return found


def kill_descendants(root, group, limit=2.0):
    """Kills the process group `group` and all that is below `root`, for at most `limit` seconds, and reaps.

    Looks again until nothing is left: processes may be forking meanwhile. Returns `{pid: wait status}`.
    """
    become_subreaper()  # Else a process outside the group would leave the tree with its parent, when that dies early.
    statuses = {}
    end = time.monotonic() + limit
    _kill(os.killpg, group)
    while True:
        alive = [pid for pid in descendants(root) if _kill(os.kill, pid)]
        left = reap(statuses)
        if not (alive or left) or time.monotonic() > end:
            return statuses
        time.sleep(0.002)


def _kill(kill, pid):
    try:
        kill(pid, _signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def reap(statuses):
    """Collects the wait statuses of children that have ended into `statuses`; returns whether any child is left."""
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return False
        if pid == 0:
            return True
        statuses[pid] = status
