"""Adapts libraries at the moment when user code imports them; before that they cost nothing."""

from .pristine import BUILTINS as __builtins__

import builtins
import os
import posix
import sys

from .hooks import when_imported
from .pristine import own, stdlib

_modules_seen = 0


def install(emit, main, flush):
    """Is called once by the host, before the first cell.

    `emit(kind, bundle)` shows a bundle, `main` is the module in which cells run, and `flush` writes what Python
    holds back of stdout.
    """
    global _modules_seen
    _modules_seen = len(sys.modules)
    os.environ["MPLBACKEND"] = "Agg"  # Also for child processes: there is no screen
    if "IPython" not in sys.modules:  # Where it is not what runs the cells, its `display` would only print
        when_imported("IPython.core.display_functions", lambda module: setattr(module, "display", builtins.display))
    when_imported("ctypes", lambda module: own("native").unbuffer(module))
    when_imported("matplotlib.pyplot", lambda module: own("figures").prepare_pyplot(module, emit))
    when_imported("multiprocessing.spawn", lambda module: own("children").prepare_spawn(module, main))
    when_imported("pandas", lambda module: own("tables").prepare_pandas(module))
    when_imported("PIL.ImageShow", lambda module: own("figures").prepare_image_show(module, emit))
    when_imported("polars", lambda module: own("tables").prepare_polars(module))
    when_imported("subprocess", lambda module: own("children").prepare_subprocess(module, flush))
    when_imported("threading", lambda module: own("threads").prepare_threading(module))
    _flush_before_shells(flush)
    sys.unraisablehook = _show_unraisable


def _flush_before_shells(flush):
    """What Python holds back must come before what a shell writes to the same descriptors."""
    system = posix.system

    def flushing_system(command):
        flush()
        return system(command)

    flushing_system.__doc__ = system.__doc__
    flushing_system.__module__ = "posix"
    flushing_system.__name__ = flushing_system.__qualname__ = "system"
    os.system = posix.system = flushing_system  # In both, or it could not be pickled


def _show_unraisable(told):
    try:
        own("threads").show_unraisable(told)
    except Exception:
        sys.__unraisablehook__(told)


def show_figures(emit):
    """Is called at the end of a cell: shows and closes the figures left open; only closes them after an interrupt."""
    if "matplotlib.pyplot" in sys.modules:
        own("figures").show_open_figures(emit, draw=not isinstance(sys.exc_info()[1], KeyboardInterrupt))


def flush_native():
    """Is called after a cell: compiled code that it has imported may hold back what it printed."""
    global _modules_seen
    if len(sys.modules) != _modules_seen:
        _modules_seen = len(sys.modules)
        if "ctypes" not in sys.modules and any([_is_foreign(module) for module in list(sys.modules.values())]):
            own("native").unbuffer(stdlib("ctypes"))


def _is_foreign(module):
    """True for compiled modules that are not part of Python."""
    path = getattr(module, "__file__", None)
    return isinstance(path, str) and path.endswith(".so") and "lib-dynload" not in path
