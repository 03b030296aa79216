"""Why a kernel is gone, in a few words."""

from .pristine import BUILTINS as __builtins__

import _signal
import os

ABORTED = "killed because it did not stop"


def _oom_kills():
    """Returns how many processes the system has killed for want of memory since it started; None when unknown."""
    try:
        with open("/proc/vmstat", "rb") as file:
            for line in file:
                if line.startswith(b"oom_kill "):
                    return int(line.split()[1])
    except (OSError, ValueError):
        return None
    return None


def note_state():
    """Is called early: only what the system kills after that may have to do with the kernel."""
    global _kills_before
    _kills_before = _oom_kills()


_kills_before = None


def describe(status, aborted=False):
    """Returns the cause for a wait status, such as `killed by SIGSEGV`; None stands for an unknown status."""
    if aborted:
        return ABORTED
    if status is None:
        return "ended for an unknown reason"
    if not os.WIFSIGNALED(status):
        return "exited with code %d" % os.WEXITSTATUS(status)
    number = os.WTERMSIG(status)
    text = "killed by " + _signal_name(number)
    if number == _signal.SIGKILL and (_kills_before is None or _oom_kills() != _kills_before):
        text += ", out of memory is likely"
    return text


_SECOND_NAMES = ("SIGIOT", "SIGCLD", "SIGPOLL")


def _signal_name(number):
    for name, value in vars(_signal).items():
        if value == number and name.startswith("SIG") and name[3] != "_" and name not in _SECOND_NAMES:
            return name
    return "signal %d" % number
