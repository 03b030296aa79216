"""Which files a cell has made or changed: found at its end by their times, without a look at them at its start.

The time is that of the inode (`st_ctime`), since what is renamed, unpacked or copied with its times has an old
`st_mtime`. Nothing is opened and no link is followed. Files are told as a courtesy, so that no folder, however large
or odd, may cost a session, or much more time than its cell took.
"""

from .pristine import BUILTINS as __builtins__

import os
import time

MAX_NAMED = 20
MAX_FOLDER_CHARS = 4096
MAX_SIZE = (1 << 53) - 1  # What JSON readers hold; sparse files may claim to be larger
MAX_DEPTH = 4
# Entries of a folder that are looked at after any cell; more while that takes less time than the cell did, up to these bounds.
ENTRIES = 500
MAX_ENTRIES = 20000
MAX_SECONDS = 0.05
# A cell that took less is believed to have left nothing when its process counts no write.
QUICK_SECONDS = 0.005
MAX_KNOWN = 100  # Files that clients wrote of late

_SKIPPED = ("__pycache__", "node_modules", "site-packages")
_SKIPPED_ENDS = (".pyc", ".egg-info", ".dist-info")
_ENVIRONMENT = "pyvenv.cfg"  # The file that makes its folder a virtual environment
_NO_DISK = ("/proc/", "/sys/", "/dev/")  # Times mean nothing there

# The clock that stamps files, which ticks some hundred times a second. Elsewhere times are compared with a tolerance.
_COARSE = getattr(time, "CLOCK_REALTIME_COARSE", None)
_TOLERANCE_NS = 20000000

# User code in the same process may replace them.
_scandir, _monotonic, _time_ns, _clock_ns = os.scandir, time.monotonic, time.time_ns, getattr(time, "clock_gettime_ns", None)


class Changes:
    """The files of one kernel. `root`: nothing outside of this folder is told."""

    def __init__(self, root=None):
        self._root = root
        self._folder = None
        self._since = 0  # The clock of files when the cell began
        self._began = 0.0
        self._known = {}  # Path and state of what was told of earlier cells, as long as its time may be that of this one

    def begin(self, folder):
        """A cell begins in `folder`."""
        self._folder, self._began = folder, _monotonic()
        self._since = since = _time_ns() - _TOLERANCE_NS if _COARSE is None else _clock_ns(_COARSE)
        if self._known:
            self._known = {path: state for path, state in self._known.items() if state[0] >= since}

    def note(self, path):
        """Takes note that somebody else than the cell has just written the file `path`."""
        if len(self._known) >= MAX_KNOWN:
            self._known.clear()  # Only the last few can be of the tick in which the next cell begins
        try:
            path = os.path.realpath(path)
            self._known[path] = _state(os.lstat(path))
        except (OSError, ValueError):
            return  # It is gone again

    def end(self, folder, silent=False):
        """The cell has ended in `folder`. Returns `{"files": …}` for its `done` frame, or nothing when there are none.

        `silent`: as far as its process knows it wrote nothing, which is believed when there was little time.
        """
        try:
            seconds = _monotonic() - self._began
            if silent and seconds < QUICK_SECONDS:
                return {}
            look = _Look(self._since, self._known, seconds)
            look.below(self._folder)
            if folder != self._folder:
                look.below(folder)
            return self._told(look.found) if look.found else {}
        except BaseException:  # Whatever is wrong with a folder, and if an interrupt comes late: the cell has its reply
            return {}

    def _told(self, found):
        self._known.update(found)
        start = self._folder.rstrip("/") + "/"
        paths = sorted(found, key=lambda path: (not path.startswith(start), path.count("/"), path))
        if self._root:
            root = os.path.realpath(self._root).rstrip("/") + "/"
            paths = [path for path in paths if os.path.realpath(path).startswith(root)]
        # The current folder may be out of reach, and then has an odd name.
        if not paths or self._folder[:1] != "/" or len(self._folder) > MAX_FOLDER_CHARS:
            return {}
        named = [
            {"path": path[len(start) :] if path.startswith(start) else path, "size": min(found[path][1], MAX_SIZE)}
            for path in paths[:MAX_NAMED]
        ]
        return {"files": {"folder": self._folder, "changed": named, "more": len(paths) - len(named)}}


def _state(about):
    return about.st_ctime_ns, about.st_size, about.st_ino


def _time_of(entry):
    try:
        return entry.stat(follow_symlinks=False).st_ctime_ns
    except OSError:
        return -1  # It is gone again


class _Look:
    """A walk over folders, breadth first, that ends at its bounds. `found`: paths and states of changed files."""

    def __init__(self, since, known, seconds):
        self.since, self.known = since, known
        self.left = 0
        self.end = _monotonic() + min(seconds, MAX_SECONDS)
        self.found = {}

    def below(self, folder):
        if (folder + "/").startswith(_NO_DISK):
            return
        self.left = ENTRIES  # For each of the folders, so that a large one does not hide the other
        level = self.inside(folder, True)
        # What is below `/` is the system's.
        for _ in range(MAX_DEPTH - 1 if folder != "/" else 0):
            if not level:
                return
            level = [path for parent in level for path in self.inside(parent, False)]

    def inside(self, folder, is_first):
        """Looks at what is in `folder`; returns the folders there that are worth a look."""
        folders, files, since, left = [], [], self.since, self.left
        if left <= 0 and self.is_over(left):
            return folders
        try:
            with _scandir(folder) as entries:
                for entry in entries:
                    if left <= 0 and self.is_over(left):
                        break
                    left -= 1
                    name = entry.name
                    if name[0] == ".":
                        continue
                    if entry.is_file(follow_symlinks=False):
                        if name == _ENVIRONMENT and not is_first:
                            return []
                        if _time_of(entry) >= since and not name.endswith(_SKIPPED_ENDS):
                            files.append(entry)
                    elif name not in _SKIPPED and not name.endswith(_SKIPPED_ENDS) and entry.is_dir(follow_symlinks=False):
                        folders.append(entry.path)
        except OSError:
            folders.clear()  # It is gone, or may not be read
        finally:
            self.left = left
        for entry in files:
            self.take(entry)
        return folders

    def is_over(self, left):
        return _monotonic() > self.end or left <= ENTRIES - MAX_ENTRIES

    def take(self, entry):
        state = _state(entry.stat(follow_symlinks=False))  # As it was when its time was asked
        if self.known.get(entry.path) != state:
            self.found[entry.path] = state
