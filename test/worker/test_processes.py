"""Child processes of user code: multiprocessing, forks, background processes."""

import unittest

from support import WorkerCase


class Multiprocessing(WorkerCase):
    def pool(self, method):
        self.assertValue(
            "[40, 90, 160]",
            "import multiprocessing as mp, decimal\nFACTOR = decimal.Decimal(10)",
            "def helper(n):\n    return n * n\nclass Box:\n    def __init__(self, n):\n        self.n = n\n",
            "def work(box):\n    return int(helper(box.n) * FACTOR)\n"
            "with mp.get_context(%r).Pool(2) as pool:\n    r = pool.map(work, [Box(2), Box(3), Box(4)])\nr" % method,
        )

    def test_fork(self):
        self.pool("fork")

    def test_spawn(self):
        self.pool("spawn")

    def test_forkserver(self):
        self.pool("forkserver")

    def test_spawned_children_do_not_repeat_what_cells_did(self):
        self.run_cells(
            "import multiprocessing as mp; print('once')\ndef f(queue): queue.put('child')\nprint('once')",
            "q = mp.get_context('spawn').Queue()",
        )
        reply = self.worker.run("p = mp.get_context('spawn').Process(target=f, args=(q,)); p.start(); p.join(); q.get()")
        self.assertEqual((reply.value, reply.text), ("'child'", ""), reply.traceback)

    def test_futures(self):
        self.assertValue(
            "[1, 4]",
            "from concurrent.futures import ProcessPoolExecutor\ndef sq(n): return n * n",
            "with ProcessPoolExecutor(2) as pool: r = list(pool.map(sq, [1, 2]))\nr",
        )

    def test_children_print_into_the_cell(self):
        reply = self.run_cells(
            "import multiprocessing as mp\ndef f(): print('from child', end='')",
            "p = mp.get_context('fork').Process(target=f); p.start(); p.join()",
        )
        self.assertEqual(reply.text, "from child")


class Forks(WorkerCase):
    def test_a_forked_child_never_answers(self):
        reply = self.worker.run("import os\npid = os.fork()\nkid = pid == 0\n'par' + 'ent' if pid else 'chi' + 'ld'")
        self.assertEqual([bundle["text/plain"] for bundle in reply.bundles], ["'parent'"])
        self.assertValue("[False, 33]", "[kid, 11 * 3]")
        self.assertValue("[False, 44]", "[kid, 11 * 4]")
        self.assertValue("0", "os.waitpid(pid, 0)[1]")

    def test_a_forked_child_ends_as_a_script_would(self):
        for ending, status in (("1 / 0", 1), ("raise SystemExit(7)", 7), ("x = 1", 0)):
            reply = self.worker.run(
                "import os\npid = os.fork()\nif pid == 0:\n    print('child', end=' ')\n    %s\nelse:\n"
                "    s = os.waitpid(pid, 0)[1] >> 8\n    display(s)" % ending
            )
            self.assertEqual(reply.bundles[0]["text/plain"], str(status), ending)
            self.assertEqual(reply.stdout, "child ")
            self.assertEqual("ZeroDivisionError" in reply.stderr, ending == "1 / 0")

    def test_no_warning_about_threads_of_ours(self):
        reply = self.worker.run("import os\npid = os.fork()\nif pid == 0: os._exit(0)\n_ = os.waitpid(pid, 0)")
        self.assertEqual((reply.status, reply.text), ("ok", ""))
        self.assertValue("1", "import threading\nthreading.active_count()")


class Background(WorkerCase):
    def test_a_process_that_holds_the_descriptors_does_not_hold_the_cell(self):
        reply = self.run_cells("import subprocess\np = subprocess.Popen(['sleep', '300'])\n'go' + '1'")
        self.assertEqual(reply.value, "'go1'")
        self.assertValue("True", "p.poll() is None")

    def test_there_is_no_terminal(self):
        self.assertError("OSError", "open('/dev/tty')")


if __name__ == "__main__":
    unittest.main()
