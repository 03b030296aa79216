"""How much of the processor these processes get beside the server and the interpreters of others."""

from .pristine import BUILTINS as __builtins__

import errno
import os
import time

_RETRY_SECONDS = 0.11  # Of all users but root together, Linux takes one change in a tenth of a second


def lower_groups(*pids):
    """Gives the groups of these processes the niceness of this one. Returns when to call again; None when all is done.

    Linux may make a group of each session (`sched_autogroup_enabled`). Then it compares processes of different groups
    by the groups' niceness only, and that of a process counts within its group.
    """
    nice = os.nice(0)
    try:
        for pid in pids:
            with open("/proc/%d/autogroup" % pid, "r+") as group:
                if not group.read().endswith(" nice %d\n" % nice):
                    group.write(str(nice))
    except OSError as error:
        # Any other error tells that there are no such groups, or that they are not ours to change.
        return time.monotonic() + _RETRY_SECONDS if error.errno == errno.EAGAIN else None
    return None
