"""Installs requirements for the interpreter that runs this, and tells at the end what changed.

`python -c SOURCE REQUIREMENT...`. pip's own output goes through; the last line is a mark and JSON.
"""

import json
import os
import subprocess
import sys
from importlib import metadata

COMMAND = ["-m", "pip", "install", "--no-input", "--disable-pip-version-check", "--progress-bar", "off",
           "--root-user-action=ignore"]


def versions():
    found = {}
    for distribution in metadata.distributions():
        name = distribution.metadata["Name"]
        if name:
            found.setdefault(name, distribution.version)
    return found


def main():
    if os.getpgid(0) != os.getpid():
        os.setpgid(0, 0)  # so that one signal ends pip and what it started
    before = versions()
    code = subprocess.call([sys.executable, *COMMAND, "--", *sys.argv[1:]], stdin=subprocess.DEVNULL,
                           stderr=subprocess.STDOUT)
    after = versions()
    changed = sorted((name for name in after if before.get(name) != after[name]), key=str.lower)
    installed = ["%s %s" % (name, after[name]) for name in changed]
    replaced = [name for name in changed if name in before]
    print("\n\x01edge-repl " + json.dumps({"installed": installed, "replaced": replaced}), flush=True)
    sys.exit(code)


main()
