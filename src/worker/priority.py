"""How much of the processor these processes get beside the server and the interpreters of others."""

import errno
import os
import time

_GROUP = "/proc/self/autogroup"
_TRIES, _BETWEEN_SECONDS = 40, 0.01  # The system takes one change in a tenth of a second from all but root


def give_way(by=0):
    """Lowers this process's priority. Call it again after each `setsid`.

    Linux may put each session into a group of its own (`sched_autogroup_enabled`), and then compares processes of
    different groups by the groups' priorities only: so the group gets that of the process.
    """
    nice = os.nice(by)
    if nice <= 0:
        return
    for _ in range(_TRIES):
        try:
            with open(_GROUP, "w") as group:
                group.write(str(nice))
        except OSError as error:
            if error.errno != errno.EAGAIN:
                return  # No such groups, or not ours to change: then the process's own priority is all there is
            time.sleep(_BETWEEN_SECONDS)
        else:
            return
