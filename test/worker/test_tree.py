"""The process tree below the monitor, in a process of its own: ending the tree ends all that it started."""

import os
import subprocess
import sys
import unittest

from support import MAIN

# A child whose own child left the process group, as `start_new_session` makes them. The tree is killed at once, before
# the monitor has had the time to become the parent of orphans.
PROGRAM = """
import os, subprocess, sys, time, types
package = types.ModuleType("_edge_repl")
package.__path__ = [sys.argv[1]]
sys.modules["_edge_repl"] = package
from _edge_repl import tree
reading, writing = os.pipe()
child = os.fork()
if child == 0:
    os.setpgid(0, 0)
    other = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"], start_new_session=True)
    os.write(writing, b"%d" % other.pid)
    time.sleep(60)
grandchild = int(os.read(reading, 100))
tree.kill_descendants(os.getpid(), child)
print(grandchild)
"""


class Ending(unittest.TestCase):
    @unittest.skipUnless(sys.platform == "linux", "orphans are kept in the tree on Linux only")
    def test_a_child_in_a_session_of_its_own_ends_with_its_parent(self):
        command = [sys.executable, "-c", PROGRAM, os.path.dirname(MAIN)]
        pid = int(subprocess.run(command, check=True, stdout=subprocess.PIPE, timeout=20).stdout)
        with self.assertRaises(ProcessLookupError):
            os.kill(pid, 0)


if __name__ == "__main__":
    unittest.main()
