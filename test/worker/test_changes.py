"""Which files the worker says that a cell has made or changed."""

import os
import time
import unittest

from support import WorkerCase
from test_units import load


class Cells(WorkerCase):
    """The worker as a whole, in a fresh folder."""

    def setUp(self):
        super().setUp()
        self.place = self.folder()

    def put(self, path, content="old"):
        full = os.path.join(self.place, path)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "w") as file:
            file.write(content)
        return full

    def told(self, reply):
        files = reply.end.get("files", {"changed": [], "more": 0})
        self.assertEqual(files.get("folder", self.place), self.place)
        return [(file["path"], file["size"]) for file in files["changed"]]

    def paths(self, code):
        """Runs `code` in the folder and returns the paths that it is said to have changed."""
        if not self.workers:
            time.sleep(0.02)  # What was put there before is of an earlier tick of the clock
            self.make(cwd=self.place)
        return [path for path, _ in self.told(self.worker.run(code))]

    def test_a_created_file_is_told_with_its_size(self):
        self.make(cwd=self.place)
        reply = self.worker.run("open('a.txt', 'w').write('12345')")
        self.assertEqual((reply.status, self.told(reply)), ("ok", [("a.txt", 5)]))

    def test_a_cell_that_writes_nothing_tells_nothing(self):
        self.put("there.txt")
        self.assertEqual(self.paths("open('there.txt').read()"), [])
        self.assertNotIn("files", self.worker.run("1 + 1").end)

    def test_a_file_changed_in_place_is_told(self):
        self.put("log.txt")
        self.put("same size.txt")
        self.assertEqual(self.paths("open('log.txt', 'a').write('more')"), ["log.txt"])
        self.assertEqual(self.paths("with open('same size.txt', 'r+') as f: f.write('new')"), ["same size.txt"])

    @unittest.skipUnless(os.path.exists("/proc/self/io"), "only Linux counts writes")
    def test_a_quick_cell_that_writes_to_nobody_but_the_monitor_is_silent(self):
        self.make(cwd=self.place)
        count = "import gc; traces = [o for o in gc.get_objects() if type(o).__name__ == 'Traces'][0]; seen = []"
        watch = "real = traces.silent; traces.silent = lambda own: seen.append(real(own)) or seen[-1]"
        quiet = ["1 + 1", "print('a', 'b'); print('c')", "import sys; sys.stderr.write('e')", "x = list(range(1000))"]
        loud = ["import os; os.write(1, b'raw')", "open('f', 'w').write('x')", "os.rename('f', 'g')", "os.system('true >h')"]
        self.run_cells(count, watch, "0", *quiet, *loud)
        # After the cell that began to watch, and the one that let its frames go
        self.assertValue(repr([True] * len(quiet) + [False] * len(loud)), "seen[2:]")

    def test_a_file_of_a_cell_before_is_not_told_again(self):
        self.assertEqual(self.paths("open('a', 'w').close()"), ["a"])
        # Cells that follow within one tick of the clock that stamps files
        self.assertEqual([self.paths(code) for code in ("1", "2", "open('b', 'w').close()", "3")], [[], [], ["b"], []])
        self.assertEqual(self.paths("open('a', 'a').write('x')"), ["a"])

    def test_renamed_copied_and_unpacked_files_are_told_though_their_times_are_old(self):
        os.utime(self.put("draft.csv"), (1e9, 1e9))
        self.assertEqual(self.paths("import os; os.rename('draft.csv', 'final.csv')"), ["final.csv"])
        self.assertEqual(self.paths("import shutil; shutil.copy2('final.csv', 'copy.csv')"), ["copy.csv"])
        self.run_cells("import tarfile\nwith tarfile.open('all.tar', 'w') as t: t.add('copy.csv', 'in/inner.csv')")
        self.assertEqual(self.paths("tarfile.open('all.tar').extractall('.')"), ["in/inner.csv"])

    def test_a_file_written_by_a_child_is_told(self):
        self.assertEqual(self.paths("import subprocess; subprocess.run(['sh', '-c', 'echo 1 > kid.txt']); None"), ["kid.txt"])

    def test_folders_are_followed_down_to_a_depth(self):
        code = "import os; os.makedirs('a/b/c/d')\nfor p in ('z', 'a/y', 'a/b/c/x', 'a/b/c/d/w'): open(p, 'w').close()"
        self.assertEqual(self.paths(code), ["z", "a/y", "a/b/c/x"])

    def test_the_folder_at_the_end_counts_too(self):
        other = self.folder()
        code = "import os; open('here', 'w').close(); os.chdir(%r); open('there', 'w').close(); os.chdir(%r)"
        self.assertEqual(self.paths(code % (other, other)), ["here", os.path.join(other, "there")])
        self.assertEqual(self.worker.run("open('next', 'w').close()").end["files"]["folder"], other)
        os.mkdir(os.path.join(other, "sub"))
        reply = self.worker.run("os.chdir('sub'); open('low', 'w').close()")
        self.assertEqual([file["path"] for file in reply.end["files"]["changed"]], ["sub/low"])

    def test_a_large_folder_does_not_hide_the_one_at_the_end(self):
        for number in range(1000):
            self.put("f%d" % number)
        other = self.folder()
        code = "import os; os.chdir(%r); open('there', 'w').close()" % other
        self.assertEqual(self.paths(code), [os.path.join(other, "there")])
        self.assertNotIn("files", self.worker.run("1").end)

    def test_a_file_that_is_gone_at_the_end_is_not_told(self):
        self.assertEqual(self.paths("import os; open('a', 'w').close(); os.remove('a')"), [])

    def test_a_cell_that_fails_tells_its_files(self):
        self.make(cwd=self.place)
        reply = self.worker.run("open('a', 'w').close(); 1 / 0")
        self.assertEqual((reply.status, self.told(reply)), ("error", [("a", 0)]))

    def test_a_cell_that_is_stopped_tells_its_files(self):
        self.make(cwd=self.place)
        self.worker.start("import time; open('a', 'w').close(); print('on'); time.sleep(60)")
        self.worker.wait_for_text("on")
        reply = self.worker.interrupt()
        self.assertEqual((reply.status, self.told(reply)), ("aborted", [("a", 0)]))

    def test_a_cell_that_must_be_killed_tells_its_files(self):
        self.make(cwd=self.place)
        self.worker.start(
            "import os, time\nos.mkdir('sub'); os.chdir('sub'); open('a', 'w').close(); print('on')\n"
            "while True:\n    try: time.sleep(60)\n    except KeyboardInterrupt: pass"
        )
        self.worker.wait_for_text("on")
        reply = self.worker.interrupt(grace=0.1)
        self.assertEqual((reply.status, reply.end["aborted"], self.told(reply)), ("died", True, [("sub/a", 0)]))

    def test_a_cell_that_dies_tells_its_files(self):
        self.make(cwd=self.place)
        reply = self.worker.run("import os; open('a', 'w').close(); os._exit(3)")
        self.assertEqual((reply.end["detail"], self.told(reply)), ("exited with code 3", [("a", 0)]))

    def test_what_a_client_writes_is_not_told(self):
        self.make(cwd=self.place)
        for number in range(20):
            self.worker.send("write", id=99, path="in.txt", data="eA==")
            self.worker.receive()
            self.assertEqual(self.paths("open('in.txt').read()"), [], number)
        self.assertEqual(self.paths("open('in.txt', 'a').write('y')"), ["in.txt"])

    def test_caches_packages_and_hidden_files_are_not_told(self):
        code = (
            "import os\nfor p in ('.hidden', '.cache/x', '__pycache__/m.pyc', 'lib/__pycache__/m.pyc', 'old.pyc',\n"
            "          'node_modules/m/i.js', 'env/pyvenv.cfg', 'env/bin/tool', 'p/site-packages/m.py',\n"
            "          'p.egg-info/PKG', 'm.dist-info/PKG', 'seen'):\n"
            "    os.makedirs(os.path.dirname(p) or '.', exist_ok=True); open(p, 'w').close()"
        )
        self.assertEqual(self.paths(code), ["seen"])

    def test_importing_a_module_of_the_folder_tells_no_bytecode(self):
        self.put("mine.py", "x = 1\n")
        self.assertEqual(self.paths("import sys; sys.dont_write_bytecode = False; import mine"), [])
        self.assertTrue(os.path.isdir(os.path.join(self.place, "__pycache__")))

    def test_links_pipes_and_sockets_are_not_told_and_stop_nothing(self):
        outside = self.folder()
        self.put(os.path.join(outside, "secret"))
        code = (
            "import os, socket\nos.symlink(%r, 'link'); os.symlink(%r, 'folder')\n"
            "os.symlink('nowhere', 'lost'); os.symlink('.', 'loop')\nos.mkfifo('fifo'); s = socket.socket(socket.AF_UNIX); s.bind('sock')\n"
            "open(%r, 'a').write('x'); open('seen', 'w').close()"
        )
        secret = os.path.join(outside, "secret")
        self.assertEqual(self.paths(code % (secret, outside, secret)), ["seen"])

    def test_odd_names_are_told_as_they_are(self):
        names = ["new\nline", "esc\x1b[31m", "n" * 255, "é 漢字 🐍", "caf\udce9.txt", "-rf", "a, b (1 B)"]
        self.assertEqual(self.paths("for n in %r: open(n, 'w').close()" % names), sorted(names))

    def test_with_a_root_nothing_outside_is_told(self):
        root, outside = os.path.join(self.place, "root"), self.folder()
        os.mkdir(root)
        self.make(cwd=root, EDGE_REPL_ROOT=root)
        reply = self.worker.run("import os; open('in', 'w').close(); os.chdir(%r); open('out', 'w').close()" % outside)
        self.assertEqual([file["path"] for file in reply.end["files"]["changed"]], ["in"])
        self.assertNotIn("files", self.worker.run("open('out', 'a').write('x')").end)

    def test_only_so_many_are_named_and_the_rest_is_counted(self):
        self.make(cwd=self.place)
        files = self.worker.run("for n in range(100): open('f%02d' % n, 'w').close()").end["files"]
        self.assertEqual([file["path"] for file in files["changed"]], ["f%02d" % n for n in range(20)])
        self.assertEqual(files["more"], 80)

    def test_a_sparse_file_has_a_size_that_json_can_hold(self):
        self.make(cwd=self.place)
        code = "import os\nopen('big', 'w').close()\ntry: os.truncate('big', (1 << 63) - 4096)\nexcept OSError: pass"
        reply = self.worker.run(code)
        self.assertLess(self.told(reply)[0][1], 1 << 53)

    def test_folders_that_cannot_be_looked_into_do_no_harm(self):
        code = "import os; os.mkdir('gone'); os.chdir('gone'); os.rmdir('../gone'); open(%r, 'w').close()"
        self.assertEqual(self.paths(code % os.path.join(self.place, "a")), ["a"])
        self.assertEqual(self.worker.run("1 + 1").value, "2")
        self.assertEqual(self.worker.run("os.chdir('/proc/self'); 2").value, "2")
        self.assertNotIn("files", self.worker.run("open('comm').read(); None").end)
        self.run_cells("os.chdir('/')")
        self.assertNotIn("files", self.worker.run("open('/proc/self/comm').read(); None").end)

    def test_user_code_that_replaces_what_the_look_needs_does_no_harm(self):
        code = "import os, time\nos.scandir = os.stat = os.lstat = time.monotonic = None\nopen('a', 'w').close()"
        self.assertEqual(self.paths(code), ["a"])


class Bounds(unittest.TestCase):
    """The look alone: what it costs."""

    def setUp(self):
        self.changes = load("changes").Changes()
        self.place = WorkerCase.folder(self)

    def cell(self, work=lambda: None):
        self.changes.begin(self.place)
        work()
        return self.changes.end(self.place)

    def fill(self, count):
        for number in range(count):
            open(os.path.join(self.place, "f%d" % number), "w").close()
        time.sleep(0.02)

    def seconds(self, repeat):
        """The least time of a cell, since other work on the machine only adds to it."""
        least = 1e9
        for _ in range(repeat):
            start = time.perf_counter()
            self.cell()
            least = min(least, time.perf_counter() - start)
        return least

    def test_a_small_folder_costs_microseconds(self):
        self.fill(5)
        self.assertLess(self.seconds(2000), 100e-6)

    def test_a_folder_of_ten_thousand_files_costs_little_more_than_its_bound(self):
        self.fill(10000)
        self.assertLess(self.seconds(50), 10e-3)
        start = time.perf_counter()
        found = self.cell(lambda: time.sleep(0.5))
        self.assertLess(time.perf_counter() - start - 0.5, 0.3)
        self.assertEqual(found, {})

    def test_many_folders_cost_no_more(self):
        for number in range(1000):
            os.mkdir(os.path.join(self.place, "d%d" % number))
            open(os.path.join(self.place, "d%d" % number, "f"), "w").close()
        time.sleep(0.02)
        self.assertLess(self.seconds(50), 10e-3)

    def test_what_is_found_within_the_bounds_is_told(self):
        files = self.cell(lambda: self.fill(3000))["files"]
        self.assertEqual(len(files["changed"]), 20)
        self.assertGreaterEqual(files["more"], 80)

    def test_what_clients_write_is_remembered_within_a_bound(self):
        path = os.path.join(self.place, "f")
        for number in range(1000):
            open(path + str(number), "w").close()
            self.changes.note(path + str(number))
        self.assertLess(len(self.changes._known), 300)
        self.changes.note("missing")
        self.changes.note("\0")


if __name__ == "__main__":
    unittest.main()
