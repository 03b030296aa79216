"""Exceptions that end a thread, shown as CPython shows them, with the lines of the cells."""

from .pristine import BUILTINS as __builtins__

import sys
from _thread import get_ident

from .pristine import own


def prepare_threading(module):
    module.excepthook = _show


def _show(told):
    if told.exc_type is SystemExit:
        return
    name = told.thread.name if told.thread is not None else get_ident()
    error = told.exc_value if told.exc_value is not None else told.exc_type()
    text = own("tracebacks").describe_error(error, None)["traceback"]
    sys.stderr.write("Exception in thread %s:\n%s\n" % (name, text))
