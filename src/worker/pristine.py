"""What the worker needs of Python itself, out of reach of user code.

User code may delete or replace builtins, and keep files or modules named like those of the standard library.
Every module of this package starts with `from .pristine import BUILTINS as __builtins__`: names that are not
globals are then looked up in a private copy. Modules of the standard library that are needed later than start-up
come from `stdlib`, modules of this package from `own`.
"""

import builtins
import os
import sys
from _thread import get_ident

BUILTINS = dict(vars(builtins))
__builtins__ = BUILTINS

PACKAGE = __package__
_FOLDER = os.path.dirname(os.__file__)
_PATHS = [
    entry
    for entry in sys.path
    if entry == _FOLDER or os.path.basename(entry) == "lib-dynload" or (entry.endswith(".zip") and not os.path.isfile(entry))
]
_BYTECODE = getattr(sys.modules[PACKAGE], "bytecode", None)  # See main.py
_own = {}  # Full names and modules of this package
_genuine = {}


def own(name):
    """Returns module `name` of this package, importing it at its first use."""
    full = PACKAGE + "." + name
    if full not in _own:
        usual = sys.pycache_prefix, sys.dont_write_bytecode
        with whole_builtins():
            sys.modules.update(_own)
            if _BYTECODE:
                sys.pycache_prefix, sys.dont_write_bytecode = _BYTECODE, False
            try:
                __import__(full)
            finally:
                sys.pycache_prefix, sys.dont_write_bytecode = usual
        keep_own()
    return _own[full]


def keep_own():
    """Remembers what is loaded of this package, should user code empty `sys.modules`."""
    _own.update([(key, module) for key, module in sys.modules.items() if key.partition(".")[0] == PACKAGE])


def stdlib(name):
    """Returns the standard library's module `name`, whatever user code has put in its place."""
    module = _genuine.get(name)
    if module is None:
        module = sys.modules.get(name)
        if module is None or not _is_genuine(module):
            module = _import_genuine(name)
        _genuine[name] = module
    return module


def _is_genuine(module):
    origin = getattr(getattr(module, "__spec__", None), "origin", None)
    if origin in ("built-in", "frozen"):
        return True
    return isinstance(origin, str) and origin.startswith(_FOLDER + os.sep) and "site-packages" not in origin


class _StandardFinder:
    """Finds top-level modules in the standard library only, for one thread."""

    def __init__(self):
        self.thread = get_ident()

    def find_spec(self, name, path=None, target=None):
        if path is not None or get_ident() != self.thread:
            return None
        return sys.modules["_frozen_importlib_external"].PathFinder.find_spec(name, _PATHS)


def _import_genuine(name):
    with genuine_imports():
        __import__(name)
        return sys.modules[name]


class genuine_imports:
    """While entered, imports of this thread find the standard library's modules, and builtins are whole."""

    def __enter__(self):
        self.builtins = whole_builtins()
        self.builtins.__enter__()
        self.shadows = {key: module for key, module in list(sys.modules.items()) if _shadows(key, module)}
        for key in self.shadows:
            del sys.modules[key]
        self.finder = _StandardFinder()
        behind_ours = [str(type(other).__module__).startswith(PACKAGE) for other in sys.meta_path] + [False]
        sys.meta_path.insert(behind_ours.index(False), self.finder)

    def __exit__(self, *failure):
        sys.meta_path.remove(self.finder)
        sys.modules.update(self.shadows)
        self.builtins.__exit__()


_harmless = set()  # Names of modules that are known to stand in nobody's place


def _shadows(name, module):
    """True for a user's module that stands where one of the standard library belongs."""
    if name in _harmless or "." in name or name == "__main__" or _is_genuine(module):
        return False
    places = (os.path.join(_FOLDER, name + ".py"), os.path.join(_FOLDER, name, "__init__.py"))
    if any([os.path.isfile(place) for place in places]):
        return True
    _harmless.add(name)
    return False


class whole_builtins:
    """While entered, `builtins` is as it was at the start; afterwards it is again as user code left it."""

    def __enter__(self):
        now = builtins.__dict__
        self.changed = {name: now.get(name, self) for name, value in BUILTINS.items() if now.get(name) is not value}
        for name in self.changed:
            now[name] = BUILTINS[name]

    def __exit__(self, *failure):
        now = builtins.__dict__
        for name, value in self.changed.items():
            if value is self:
                del now[name]
            else:
                now[name] = value
