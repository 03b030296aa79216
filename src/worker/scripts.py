"""Files that are run as a cell: Python files as Python itself would read them, and notebooks."""

from .pristine import BUILTINS as __builtins__

import os
import sys

from .pristine import stdlib


class Refused(Exception):
    """A file that cannot be run; `refusal` is one of the error codes of the tool contract."""

    def __init__(self, refusal, message):
        super().__init__(message)
        self.refusal = refusal


def read_script(path):
    """Returns `(absolute path, source)`; `path` starts at the current directory. Raises Refused."""
    try:
        full = os.path.abspath(path)
    except OSError:
        raise Refused("FILE_NOT_FOUND", "There is no file %s; the current folder is gone" % path) from None
    data = _read(path, full)
    if full.lower().endswith(".ipynb"):
        return full, _notebook_source(path, data)
    return full, _decode(path, data)


def _read(path, full):
    if "\0" in path:
        raise Refused("FILE_NOT_FOUND", "There is no file %r" % path)
    try:
        if not os.path.exists(full):
            raise Refused("FILE_NOT_FOUND", "There is no file %s; relative paths start at %s" % (path, os.getcwd()))
        if os.path.isdir(full):
            raise Refused("FILE_UNREADABLE", "%s is a folder; name a Python file" % path)
        if not os.path.isfile(full):
            raise Refused("FILE_UNREADABLE", "%s is no regular file; name a Python file" % path)
        with open(full, "rb") as file:
            return file.read()
    except OSError as error:
        raise Refused("FILE_UNREADABLE", "%s cannot be read: %s" % (path, error.strerror or error)) from error


def _decode(path, data):
    """Honours a byte order mark and a coding cookie."""
    if b"\0" in data:
        raise Refused("FILE_UNREADABLE", "%s holds null bytes, so it is no Python source" % path)
    lines = iter(data.splitlines(keepends=True))
    try:
        encoding, _ = stdlib("tokenize").detect_encoding(lambda: next(lines, b""))
        return data.decode(encoding)
    except (SyntaxError, UnicodeError, LookupError) as error:
        raise Refused("FILE_UNREADABLE", "%s cannot be decoded as Python source: %s" % (path, error)) from error


def _notebook_source(path, data):
    """Returns the code cells of a notebook, one below the other."""
    try:
        cells = stdlib("json").loads(data.decode("utf-8-sig"))["cells"]
        sources = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    except (ValueError, KeyError, TypeError) as error:
        raise Refused("FILE_UNREADABLE", "%s is no notebook of format 4" % path) from error
    return "\n\n".join(sources) + "\n"


class Running:
    """While a file runs, `__file__`, `sys.argv` and `sys.path[0]` are as for a script."""

    def __init__(self, main, path, full):
        self.main = main
        self.argv = sys.argv
        self.folder = os.path.dirname(full)
        sys.argv = [path]
        if sys.path[:1] == [""]:
            del sys.path[0]
        sys.path.insert(0, self.folder)
        if not full.lower().endswith(".ipynb"):
            main.__dict__["__file__"] = full

    def leave(self):
        """Puts them back; the folder stays importable, since functions of the file may import from it later."""
        self.main.__dict__.pop("__file__", None)
        sys.argv = self.argv
        if "" not in sys.path:
            sys.path.insert(0, "")
        if sys.path.count(self.folder) > 1 and sys.path[1] == self.folder:
            del sys.path[1]
