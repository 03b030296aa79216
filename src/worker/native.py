"""What C code prints through `stdio`, which would hold it back in a buffer of its own."""

from .pristine import BUILTINS as __builtins__

import sys

from .hooks import when_imported
from .pristine import stdlib

_UNBUFFERED = 2  # _IONBF
_seen = 0


def install():
    when_imported("ctypes", _unbuffer)


def _unbuffer(ctypes):
    libc = ctypes.CDLL(None)
    name = "__stdoutp" if sys.platform == "darwin" else "stdout"
    stdout = ctypes.c_void_p.in_dll(libc, name)
    libc.fflush(None)
    libc.setvbuf(stdout, None, _UNBUFFERED, ctypes.c_size_t(0))


def flush_after_imports():
    """Is called at the end of each cell: user code may have brought compiled code of others in."""
    global _seen
    if len(sys.modules) == _seen:
        return
    _seen = len(sys.modules)
    if "ctypes" not in sys.modules and any([_is_foreign(module) for module in list(sys.modules.values())]):
        _unbuffer(stdlib("ctypes"))


def _is_foreign(module):
    path = getattr(module, "__file__", None)
    return isinstance(path, str) and path.endswith(".so") and "lib-dynload" not in path
