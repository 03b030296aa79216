"""The worker's entry: one interpreter that splits at once into a monitor and a kernel (see PROTOCOL.md).

Start-up time counts here. This file is compiled at each start, so it holds only what must happen before the
split, and each half imports its own modules afterwards, at the same time as the other.
"""

import os
import sys


def _private_package():
    """Makes this folder importable as `_edge_repl` only, so that neither side can shadow the other's modules."""
    folder = os.path.dirname(os.path.abspath(__file__))
    if sys.path and os.path.abspath(sys.path[0]) == folder:
        del sys.path[0]
    package = type(sys)("_edge_repl")
    package.__path__ = [folder]
    package.__package__ = "_edge_repl"
    package.bytecode = _bytecode_folder()
    sys.modules["_edge_repl"] = package
    return package


def _bytecode_folder():
    """Returns where this package's bytecode is kept, since its own folder is often read-only; None for nowhere."""
    if os.environ.get("EDGE_REPL_BYTECODE"):
        return os.environ["EDGE_REPL_BYTECODE"]
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.environ.get("HOME") or "", ".cache")
    return os.path.join(cache, "edge-python-repl") if os.path.isabs(cache) else None


def _settings():
    """Takes the worker's settings out of the environment, so that user code sees none of them."""
    names = [name for name in os.environ if name.startswith("EDGE_REPL_")]
    return {name: os.environ.pop(name) for name in names}


def _close_inherited():
    """Closes what whoever started the server left open: through a folder's descriptor code could leave its sandbox."""
    try:
        names = os.listdir("/proc/self/fd" if os.path.isdir("/proc/self/fd") else "/dev/fd")
    except OSError:
        return
    for descriptor in map(int, names):
        try:
            if descriptor > 2:
                os.close(descriptor)
        except OSError:
            continue  # It was the one that the list was read by


def _split():
    """Forks. Returns what the half needs to go on; `pid` is the kernel's in the monitor and 0 in the kernel."""
    names = ("stdout", "stderr", "commands", "reports", "acks", "asked", "life")
    pipes = {name: os.pipe() for name in names}
    tag = os.urandom(16)
    pid = os.fork()
    monitor_writes = ("commands", "acks", "asked", "life")
    mine = {}
    for name, (read_end, write_end) in pipes.items():
        keep_write = (name in monitor_writes) == (pid != 0)
        mine[name] = write_end if keep_write else read_end
        os.close(read_end if keep_write else write_end)
    return pid, mine, tag


def main():
    package = _private_package()
    _close_inherited()
    settings = _settings()
    if len(sys.argv) > 1:
        os.nice(int(sys.argv[1]))
    pid, ends, tag = _split()
    usual = sys.pycache_prefix, sys.dont_write_bytecode
    if package.bytecode:
        sys.pycache_prefix, sys.dont_write_bytecode = package.bytecode, False
    if pid:
        from _edge_repl.monitor import run_monitor as run
    else:
        from _edge_repl.kernel import run_kernel as run
    sys.pycache_prefix, sys.dont_write_bytecode = usual
    if pid:
        run(pid, ends, tag, settings)
    else:
        run(ends, tag, settings)


main()
