"""Child processes of user code: what `multiprocessing` starts afresh can find there, and the order of output."""

from .pristine import BUILTINS as __builtins__

import marshal
import os
import sys

from . import links, sources
from .pristine import stdlib

MOST_VALUE_BYTES = 1 << 20
MOST_PROGRAMS = 64
# Variables of these modules' types are taken along, when they are small; all others a new process does not have.
_VALUE_MODULES = frozenset(
    ("builtins", "collections", "datetime", "decimal", "fractions", "numpy", "pathlib", "re", "types", "uuid")
)

# What a new process runs as its `__main__`: values first, then imports and definitions in the order they were made.
_PROGRAM = """\
import marshal, pickle
def _restore(namespace, values, definitions):
    for name, value in values.items():
        try:
            namespace[name] = pickle.loads(value)
        except Exception:
            continue
    for code in definitions:
        try:
            exec(code, namespace)
        except Exception:
            continue
_restore(globals(), *marshal.loads(%r))
"""


def prepare_spawn(module, main):
    """Lets new processes unpickle what is defined in `main`."""
    program = _Program(main)
    original = module.get_preparation_data

    def get_preparation_data(name):
        data = original(name)
        if "init_main_from_name" not in data and "init_main_from_path" not in data:
            data["init_main_from_path"] = program.write()
        return data

    module.get_preparation_data = get_preparation_data


class _Program:
    """A program with the imports, functions and classes of the cells that ran, and plain variables."""

    def __init__(self, main):
        self.main = main
        self.text = None
        self.path = None
        self.descriptors = []

    def write(self):
        """Returns the path of the program. It lies in no folder, and lasts as long as this process needs it.

        Another program has another path: a server of processes that knows a path does not read it again.
        """
        pickle = stdlib("pickle")
        text = _PROGRAM % marshal.dumps((self._values(pickle), self._definitions()))
        if text != self.text:
            self.text = text
            descriptor, self.path = _open_nameless()
            os.write(descriptor, text.encode("ascii"))
            self.descriptors.append(descriptor)
            if len(self.descriptors) > MOST_PROGRAMS:
                os.close(self.descriptors.pop(0))
        return self.path

    def _values(self, pickle):
        """Returns plain variables, pickled one by one; functions of the cells may use them."""
        values = {}
        for name, value in list(self.main.__dict__.items()):
            kind = type(value)
            if name.startswith("__") or kind in (type(sys), type(len), type(_open_nameless)) or isinstance(value, type):
                continue
            if str(kind.__module__).partition(".")[0] not in _VALUE_MODULES or sys.getsizeof(value) > MOST_VALUE_BYTES:
                continue
            try:
                data = pickle.dumps(value, 4)
            except Exception:
                continue
            if len(data) <= MOST_VALUE_BYTES:
                values[name] = data
        return values

    def _definitions(self):
        """Returns code objects: a process of the same interpreter runs them."""
        ast = stdlib("ast")
        codes = []
        for filename, source in sources.texts():
            try:
                tree = ast.parse(source)
                tree.body = [node for node in tree.body if _defines(ast, node)]
                if tree.body:
                    codes.append(compile(tree, filename, "exec", 0, True))
            except (SyntaxError, ValueError):
                continue
        return codes


def _defines(ast, node):
    """True for statements that only define: imports, functions, classes, and `if` and `try` around such."""
    if isinstance(node, (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return True
    if isinstance(node, (ast.If, ast.Try)):
        handlers = [handler.body for handler in getattr(node, "handlers", ())]
        parts = [node.body, node.orelse, getattr(node, "finalbody", [])] + handlers
        statements = [statement for part in parts for statement in part]
        return all([_defines(ast, item) or _is_plain(ast, item) for item in statements])
    return False


def _is_plain(ast, node):
    value = getattr(node, "value", None)
    return isinstance(node, ast.Pass) or isinstance(node, ast.Assign) and isinstance(value, (ast.Constant, ast.Name))


def _open_nameless():
    if hasattr(os, "memfd_create"):
        descriptor = links.move_high(os.memfd_create("main"))
        return descriptor, "/proc/%d/fd/%d" % (os.getpid(), descriptor)
    descriptor, path = stdlib("tempfile").mkstemp(suffix=".py")
    stdlib("atexit").register(os.unlink, path)
    return descriptor, path


def prepare_subprocess(module, flush):
    """Calls `flush` before a program is started that writes to the same descriptors."""
    execute = module.Popen._execute_child

    def _execute_child(self, *positional, **named):
        flush()
        return execute(self, *positional, **named)

    module.Popen._execute_child = _execute_child
