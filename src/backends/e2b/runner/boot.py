"""First code of the warm-up cell: makes the package `_edge_repl` from sources in memory and starts the runner.

Runs as `exec(this, {"payload": {...}})` inside an IPython kernel. `payload` holds `sources` (module name to text)
and `settings` of the runner.
"""

import importlib.util
import sys

from IPython import get_ipython

PACKAGE = "_edge_repl"


class MemoryLoader:
    """Finder and loader of the modules of one package, kept in memory."""

    def __init__(self, sources):
        self.sources = sources

    def find_spec(self, name, path=None, target=None):
        package, _, module = name.partition(".")
        if package != PACKAGE or (module and module not in self.sources):
            return None
        return importlib.util.spec_from_loader(name, self, is_package=not module)

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        name = module.__name__.partition(".")[2]
        if name:
            origin = "<%s>" % module.__name__
            module.__file__ = origin
            exec(compile(self.sources[name], origin, "exec", 0, True), module.__dict__)


def boot(payload):
    loader = MemoryLoader(payload["sources"])
    sys.meta_path.insert(0, loader)
    for name in payload["sources"]:
        __import__(PACKAGE + "." + name)
    runner = sys.modules[PACKAGE + ".runner"]
    sys.modules[PACKAGE].kernel = runner.install(get_ipython(), payload["settings"])


boot(payload)  # noqa: F821 - given by the warm-up cell
