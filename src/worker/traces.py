"""Whether a cell can have left anything in the file system: cheaper to ask than to look for."""

from .pristine import BUILTINS as __builtins__

import os

from . import links

_pread, _stat = os.pread, os.stat


class Traces:
    """What this process, its threads and the children that it has waited for have written, as Linux counts it.

    What is renamed or emptied below the current folder, with no write anywhere, goes unnoticed. Other systems tell nothing.
    """

    def __init__(self):
        self.last = None
        try:
            self.counts = links.move_high(os.open("/proc/self/io", os.O_RDONLY))
        except OSError:
            self.counts = -1

    def silent(self, own):
        """Returns whether there surely was none since the last call, apart from what the kernel wrote to the monitor.

        `own` is how often that was, in all.
        """
        last, self.last = self.last, self._now(own)
        return last is not None and last == self.last

    def _now(self, own):
        try:
            # Pairs of name and number: calls that wrote are the fourth, bytes that go to a disk the sixth.
            numbers = _pread(self.counts, 512, 0).split()[1::2]
            folder = _stat(".")
            return int(numbers[3]) - own, numbers[5], folder.st_mtime_ns, folder.st_ino
        except (OSError, ValueError, IndexError):
            return None
