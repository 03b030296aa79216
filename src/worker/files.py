"""The session's file system: read, write and list, answered by the monitor, also while a cell runs."""

from .pristine import BUILTINS as __builtins__

import binascii
import os
import stat

_UNREADABLE, _NOT_FOUND, _NOT_WRITABLE = "FILE_UNREADABLE", "FILE_NOT_FOUND", "FILE_NOT_WRITABLE"


class _Refused(Exception):
    def __init__(self, code, message):
        super().__init__(message)
        self.code = code


def answer(frame, cwd, root):
    """Returns the `reply` frame. Relative paths start at `cwd`; with `root`, real paths must lie below it."""
    reply = {"type": "reply", "id": frame.get("id")}
    try:
        reply.update(_OPERATIONS[frame["op"]](frame, _resolve(frame["path"], cwd, root)))
    except _Refused as error:
        reply["error"] = {"code": error.code, "message": str(error)}
    except (KeyError, ValueError, OSError) as error:
        reply["error"] = {"code": "INTERNAL", "message": "The worker cannot do %r: %s" % (frame.get("op"), error)}
    return reply


def refusal(path, cwd, root):
    """Returns `(code, message)` when a cell may not run the file `path`, else None."""
    try:
        _resolve(path, cwd, root)
    except _Refused as error:
        return error.code, str(error)
    return None


def _resolve(path, cwd, root):
    if not path or "\0" in path:
        raise _Refused(_NOT_FOUND, "The path %r names no file" % path)
    joined = os.path.join(cwd, path)
    full = os.path.normpath(joined)
    # Behind a link to a folder, `..` means one thing read from left to right and another when it is taken away first.
    if root and not all(_is_below(os.path.realpath(form), os.path.realpath(root)) for form in (joined, full)):
        raise _Refused("PATH_NOT_ALLOWED", "%s lies outside of the folder that this server allows" % path)
    return full


def _is_below(path, root):
    return path == root or path.startswith(root.rstrip("/") + "/")


def _why(error):
    return error.strerror or type(error).__name__


def _read(frame, full):
    path, limit = frame["path"], frame["limit"]
    try:
        # Without O_NONBLOCK a pipe without a writer would block.
        descriptor = os.open(full, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        raise _Refused(_NOT_FOUND, "There is no file %s" % path) from None
    except OSError as error:
        raise _Refused(_UNREADABLE, "%s cannot be read: %s" % (path, _why(error))) from error
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise _Refused(_UNREADABLE, "%s is no regular file" % path)
        with open(descriptor, "rb", closefd=False) as file:
            data = file.read(limit + 1)
    except OSError as error:
        raise _Refused(_UNREADABLE, "%s cannot be read: %s" % (path, _why(error))) from error
    finally:
        os.close(descriptor)
    if len(data) > limit:
        raise _Refused("TOO_LARGE", "%s holds more than %d bytes, the most that can be read at once" % (path, limit))
    return {"path": full, "data": binascii.b2a_base64(data, newline=False).decode("ascii")}


def _write(frame, full):
    path = frame["path"]
    target = os.path.realpath(full)  # A link stays, what it names is replaced
    replaced = os.path.lexists(target)
    if os.path.isdir(target) or path.endswith("/"):
        raise _Refused(_NOT_WRITABLE, "%s is a folder; name a file" % path)
    temporary = "%s.%s.tmp" % (target, binascii.b2a_hex(os.urandom(6)).decode("ascii"))
    try:
        os.makedirs(os.path.dirname(target), exist_ok=True)
        if replaced and not stat.S_ISREG(os.stat(target).st_mode):
            raise _Refused(_NOT_WRITABLE, "%s is no regular file" % path)
        _write_temporary(temporary, binascii.a2b_base64(frame["data"]), target if replaced else None)
        os.replace(temporary, target)
    except OSError as error:
        raise _Refused(_NOT_WRITABLE, "%s cannot be written: %s" % (path, _why(error))) from error
    finally:
        if os.path.lexists(temporary):
            os.unlink(temporary)
    return {"path": full, "replaced": replaced}


def _write_temporary(temporary, data, like):
    """Writes a new file, with the permissions of the file `like`."""
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
    with open(descriptor, "wb") as file:
        if like is not None:
            os.fchmod(descriptor, stat.S_IMODE(os.stat(like).st_mode))
        file.write(data)


def _list(frame, full):
    path = frame["path"]
    try:
        names = sorted(os.listdir(full))
    except FileNotFoundError:
        raise _Refused(_NOT_FOUND, "There is no folder %s" % path) from None
    except NotADirectoryError:
        raise _Refused(_NOT_FOUND, "%s is a file, not a folder" % path) from None
    except OSError as error:
        raise _Refused(_UNREADABLE, "%s cannot be listed: %s" % (path, _why(error))) from error
    return {"path": full, "entries": [_entry(full, name) for name in names[: frame["limit"]]]}


def _entry(folder, name):
    path = os.path.join(folder, name)
    try:
        about = os.stat(path)
    except OSError:
        return {"name": name, "path": path, "kind": "other", "size": 0, "modified": 0}
    kind = "folder" if stat.S_ISDIR(about.st_mode) else "file" if stat.S_ISREG(about.st_mode) else "other"
    return {"name": name, "path": path, "kind": kind, "size": about.st_size, "modified": about.st_mtime}


_OPERATIONS = {"read": _read, "write": _write, "list": _list}
