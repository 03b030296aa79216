"""Running cells: one namespace, the value of the last expression, top-level await.

This module and those it imports know no pipe and no monitor: another host that runs Python, such as an IPython kernel,
can load them, use `Session`, and adapt libraries with `libraries`. Only main, monitor, printed, kernel, streams, tree,
output, deaths and files belong to the worker's own two processes. What is printed goes to `sys.stdout` and
`sys.stderr` as the host has set them up.
"""

from .pristine import BUILTINS as __builtins__

import builtins
import sys

from . import sources
from .pristine import BUILTINS, keep_own, own, whole_builtins

LIMIT = 131072
RESERVE_BYTES = 16 << 20
_END_BYTES = 8  # Of bytecode from the instruction that shows the value; after a call there is more


def normalise(source):
    """Returns the text as Python would read it from a file."""
    return source[source[:1] == "\ufeff" :].replace("\r\n", "\n").replace("\r", "\n")


class _Cell:
    def __init__(self, source, number, path):
        self.source = source
        self.number = number
        self.path = path
        self.filename = None
        self.is_script = False
        self.script = None


class Session:
    """One namespace. Only one cell runs at a time."""

    def __init__(self, emit, main=None):
        """`emit(kind, bundle)` shows a MIME bundle; `kind` is `display_data` or `execute_result`.

        `main` is the module in which cells run; without it a new `__main__` is made.
        """
        self.emit = emit
        self.emit_last = emit  # For a value that ends a cell: none of its code runs after that
        self.main = main or _new_main()
        self.limit = LIMIT
        self.loop = None
        self.last_error = None
        self.reserve = None
        keep_own()
        sources.install()
        self.last_code = None
        sys.displayhook = self._display_value
        sys.breakpointhook = _ignore_breakpoint
        builtins.display = _lazy_display(emit)

    def run(self, code, number, path=None, limit=LIMIT):
        """Runs a cell, or the file `path`, and returns how it ended.

        `number` is the position that tracebacks of later cells name; `limit` bounds the characters of a value's text.
        Returns a dict with `status`: `ok`; `error`, with `error` (`name`, `message`, `traceback`); or `refused` for a
        file that cannot be run, with `code` and `message`.
        """
        cell = _Cell(code, number, path)
        try:
            program = self._begin(cell, limit)
            self.last_code = program.last
            try:
                if program.in_loop:
                    self._cell_loop().run(program, self.main.__dict__)
                else:
                    self._execute(program)
            finally:
                self.at_cell_end()
        except BaseException as error:
            return self._failure(error, cell)
        finally:
            self._end(cell)
        return {"status": "ok"}

    def at_cell_end(self):
        """Is called after the code of a cell, while an interrupt still acts; for the host to replace."""

    def _cell_loop(self):
        if self.loop is None:
            self.loop = own("loops").CellLoop()
        return self.loop

    # One cell

    def _begin(self, cell, limit):
        """Gets all ready. Returns the program; raises what is wrong with the cell."""
        self.limit = limit
        self._prepare()
        if cell.path is None:
            cell.source = normalise(cell.source)
            cell.filename = sources.add_source(cell.source, cell.number)
        else:
            self._read_file(cell)
        return own("compiling").compile_cell(cell.source, cell.filename, script=cell.is_script)

    def _prepare(self):
        """Undoes what the last cell may have done to what this one needs."""
        self._keep_reserve()
        sys.modules["__main__"] = self.main
        namespace = self.main.__dict__
        namespace.setdefault("__name__", "__main__")
        namespace.setdefault("__builtins__", builtins)
        namespace.pop("__warningregistry__", None)  # Or line 1 of one cell would be line 1 of all
        if not hasattr(sys, "displayhook"):
            sys.displayhook = self._display_value
        sys.settrace(None)
        sources.keep_registered()
        for name, finder in list(sys.path_importer_cache.items()):
            if finder is None:
                sys.path_importer_cache.pop(name, None)
            elif hasattr(finder, "invalidate_caches"):
                finder.invalidate_caches()

    def _keep_reserve(self):
        """Holds memory back (addresses only: nothing writes there) for the moment when user code has used up the rest."""
        if self.reserve is None:
            try:
                bytes(3 * RESERVE_BYTES)
                self.reserve = bytes(RESERVE_BYTES)
            except MemoryError:
                self.reserve = None

    def _read_file(self, cell):
        scripts = own("scripts")
        with whole_builtins():
            full, source = scripts.read_script(cell.path)
        cell.source = normalise(source)
        if full.lower().endswith(".ipynb"):
            cell.filename = sources.add_source(cell.source, cell.number)
        else:
            cell.filename = full
            cell.is_script = True
            sources.add_file(full)
        cell.script = scripts.Running(self.main, cell.path, full)

    def _execute(self, program):
        for code in program.codes:
            exec(code, self.main.__dict__)

    def _end(self, cell):
        if cell.script is not None:
            cell.script.leave()
            cell.script = None

    def _failure(self, error, cell):
        if cell.filename is None and hasattr(error, "refusal"):
            return {"status": "refused", "code": error.refusal, "message": str(error)}
        if isinstance(error, MemoryError):
            self.reserve = None
        limit = sys.getrecursionlimit()
        sys.setrecursionlimit(max(limit, 3000))
        try:
            described = own("tracebacks").describe_error(
                error, None if cell.is_script else cell.filename, lambda told: own("hints").hint_for(told, cell.source)
            )
        finally:
            sys.setrecursionlimit(limit)
        self._remember(error)
        return {"status": "error", "error": described}

    def _remember(self, error):
        """Keeps the error where debuggers look for it, and lets go of the one before.

        Letting go may end coroutines that were never awaited, which warns of the line that runs: it is `sys:1` then,
        as when an interpreter ends, and no line of ours.
        """
        old = [self.last_error, getattr(sys, "last_value", None), getattr(sys, "last_traceback", None)]
        self.last_error = error
        sys.last_type, sys.last_value, sys.last_traceback = type(error), error, error.__traceback__
        if sys.version_info >= (3, 12):
            sys.last_exc = error
        exec(compile("old.clear()", "sys", "exec"), {"__name__": "sys", "__builtins__": BUILTINS, "old": old})

    # Values

    def _display_value(self, value):
        """Is `sys.displayhook`: shows a value and keeps it as `_`."""
        if value is None:
            return
        builtins._ = None
        emit = self.emit_last if self._ends_cell(sys._getframe(1)) else self.emit
        emit("execute_result", self._bundle(value))
        builtins._ = value

    def _ends_cell(self, frame):
        """True when the value is shown by the cell's last instructions, not by a call that more of its code follows."""
        return frame.f_code is self.last_code and len(frame.f_code.co_code) - frame.f_lasti <= _END_BYTES

    def _bundle(self, value):
        if type(value) in _PLAIN:
            text = repr(value)
            if len(text) <= self.limit:
                return {"text/plain": text}
            return {"text/plain": own("tracebacks").shorten(text, self.limit)}
        return own("display").bundle_of(value, self.limit)


_PLAIN = frozenset((bool, int, float, complex, str, bytes, bytearray, list, tuple, dict, set, frozenset, range))


def _new_main():
    main = type(sys)("__main__")
    main.__dict__["__builtins__"] = builtins
    sys.modules["__main__"] = main
    return main


def _lazy_display(emit):
    def display(*objects, **options):
        """Shows objects as the last value of a cell is shown; with `raw=True` they are dicts of MIME types."""
        own("display").make_display(emit)(*objects, **options)

    return display


def _ignore_breakpoint(*positional, **named):
    sys.stderr.write("breakpoint() does nothing here: there is no terminal for a debugger\n")
