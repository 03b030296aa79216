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
    sys.modules["_edge_repl"] = package


def _settings():
    """Takes the worker's settings out of the environment, so that user code sees none of them."""
    names = [name for name in os.environ if name.startswith("EDGE_REPL_")]
    return {name: os.environ.pop(name) for name in names}


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
    _private_package()
    settings = _settings()
    pid, ends, tag = _split()
    if pid:
        from _edge_repl.monitor import run_monitor

        run_monitor(pid, ends, tag, settings)
    else:
        from _edge_repl.kernel import run_kernel

        run_kernel(ends, tag, settings)


main()
