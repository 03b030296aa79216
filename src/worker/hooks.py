"""Calls when user code imports certain modules, so that the worker need not import them itself."""

from .pristine import BUILTINS as __builtins__

import sys

_waiting = {}


def when_imported(name, prepare):
    """Calls `prepare(module)` right after module `name` was imported or reloaded; now, when it is there already.

    What `prepare` raises is dropped: an unknown version of a library must not break its import.
    """
    _waiting[name] = prepare
    module = sys.modules.get(name)
    if module is not None:
        _prepare(name, module)
    if _watcher not in sys.meta_path:
        sys.meta_path.insert(0, _watcher)


def _prepare(name, module):
    try:
        _waiting[name](module)
    except Exception as error:
        failures[name] = error


# For whoever looks for the reason why a module was not prepared.
failures = {}


class _Watcher:
    """Leaves finding to the other finders, and only adds a step after the module's code has run."""

    def find_spec(self, name, path=None, target=None):
        if name not in _waiting:
            return None
        spec = self._find_with_others(name, path, target)
        if hasattr(getattr(spec, "loader", None), "exec_module"):
            _follow(name, spec.loader)
        return spec

    def _find_with_others(self, name, path, target):
        for finder in list(sys.meta_path):
            find = getattr(finder, "find_spec", None)
            if find is None or finder is self:
                continue
            spec = find(name, path, target)
            if spec is not None:
                return spec
        return None


def _follow(name, loader):
    execute = loader.exec_module

    def exec_module(module):
        loader.__dict__.pop("exec_module", None)
        execute(module)
        _prepare(name, module)

    try:
        loader.exec_module = exec_module
    except (AttributeError, TypeError) as error:
        failures[name] = error


_watcher = _Watcher()
