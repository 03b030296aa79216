"""Exceptions that end a thread or that nobody can catch, shown as CPython shows them, with the lines of the cells."""

from .pristine import BUILTINS as __builtins__

import sys
from _thread import get_ident

from .pristine import own


def prepare_threading(module):
    module.excepthook = _show_thread


def _show_thread(told):
    if told.exc_type is SystemExit:
        return
    name = told.thread.name if told.thread is not None else get_ident()
    _write("Exception in thread %s:" % name, told)


def show_unraisable(told):
    """Is `sys.unraisablehook`: an error in `__del__`, for example."""
    head = told.err_msg or "Exception ignored in"
    _write("%s: %r" % (head, told.object) if told.object is not None else head + ":", told)


def _write(head, told):
    error = told.exc_value if told.exc_value is not None else told.exc_type()
    text = own("tracebacks").describe_error(error, None)["traceback"]
    sys.stderr.write("%s\n%s\n" % (head, text))
