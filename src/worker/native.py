"""What C code prints through `stdio`, which would hold it back in a buffer of its own."""

from .pristine import BUILTINS as __builtins__

import sys

_UNBUFFERED = 2  # _IONBF


def unbuffer(ctypes):
    """Writes what `stdout` of C holds, and lets it hold nothing from now on."""
    libc = ctypes.CDLL(None)
    name = "__stdoutp" if sys.platform == "darwin" else "stdout"
    stdout = ctypes.c_void_p.in_dll(libc, name)
    libc.fflush(None)
    libc.setvbuf(stdout, None, _UNBUFFERED, ctypes.c_size_t(0))
