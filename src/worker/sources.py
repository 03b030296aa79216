"""The text of every cell under its own file name, where `linecache`, `inspect` and `pdb` look for it."""

from .pristine import BUILTINS as __builtins__

import sys

from .hooks import when_imported
from .pristine import stdlib

_lines = {}  # File name of a cell: its lines, each with its line break
_files = set()  # Names of files that were run as cells
_order = []  # Both, oldest first


def add_source(source, number):
    """Keeps the text of a cell and returns its file name: `<block 3>`, and `<block 3.2>` where that was taken."""
    name = first = "<block %d>" % number
    again = 1
    while name in _lines:
        again += 1
        name = "%s.%d>" % (first[:-1], again)
    _lines[name] = lines_of(source)
    _order.append(name)
    _register(name)
    return name


def add_file(filename):
    """Notes a file that is run as a cell; its text is read from the disk when it is needed."""
    if filename not in _files:
        _files.add(filename)
        _order.append(filename)


def lines_of(source):
    """Splits as Python does: at line feeds only, not at form feeds or U+2028."""
    lines = [line + "\n" for line in source.split("\n")]
    if lines[-1] == "\n":
        del lines[-1]
    return lines


def texts():
    """Returns `(file name, text)` of all cells and files that were run, oldest first."""
    linecache = stdlib("linecache")
    return [(name, "".join(_lines.get(name) or linecache.getlines(name))) for name in _order]


def _entry(name):
    lines = _lines[name]
    # No modification time: `linecache.checkcache` then leaves the entry alone.
    return sum([len(line) for line in lines]), None, lines, name


def _register(name):
    linecache = sys.modules.get("linecache")
    cache = getattr(linecache, "cache", None)
    if isinstance(cache, dict):
        cache[name] = _entry(name)


def keep_registered():
    """Puts the cells back where user code has cleared the cache."""
    cache = getattr(sys.modules.get("linecache"), "cache", None)
    if isinstance(cache, dict) and _lines and next(reversed(_lines)) not in cache:
        for name in _lines:
            cache[name] = _entry(name)


def _prepare_linecache(module):
    for name in _lines:
        module.cache[name] = _entry(name)


def _prepare_inspect(module):
    """Lets `inspect.getsource` find classes of `__main__`, which have no file that Python knows of."""
    original = module.getfile

    def getfile(object):
        if isinstance(object, type) and object.__module__ == "__main__":
            filename = _file_of_class(object)
            if filename is not None:
                return filename
        return original(object)

    getfile.__doc__ = original.__doc__
    module.getfile = getfile


def _file_of_class(found):
    """Returns where a class was written: where its methods were, else the newest cell or file with that name."""
    for member in vars(found).values():
        function = getattr(member, "__func__", getattr(member, "fget", member))
        code = getattr(function, "__code__", None)
        own = str(getattr(function, "__qualname__", "")).startswith(found.__qualname__ + ".")
        if code is not None and own and (code.co_filename in _lines or code.co_filename in _files):
            return code.co_filename
    pattern = stdlib("re").compile(r"^[ \t]*class[ \t]+%s\b" % found.__name__, 8)
    for name, text in reversed(texts()):
        if pattern.search(text):
            return name
    return None


def install():
    """Takes effect when user code first imports the modules concerned."""
    when_imported("linecache", _prepare_linecache)
    when_imported("inspect", _prepare_inspect)
