"""Interrupts, kills and deaths: what ends, what is kept, what is told."""

import os
import time
import unittest

from support import WorkerCase, is_running, wait_until


class Interrupts(WorkerCase):
    def assertStops(self, code, text="started", grace=2):
        """Starts a cell that prints `started`, interrupts it, and expects the variables to survive."""
        self.run_cells("keep = 7")
        self.worker.start("print('started')\n" + code)
        self.worker.wait_for_text("started")
        begin = time.monotonic()
        reply = self.worker.interrupt(grace)
        self.assertEqual(reply.status, "aborted", reply.frames)
        self.assertLess(time.monotonic() - begin, grace)
        self.assertValue("7", "keep")
        return reply

    def test_python_code_and_waits_stop_with_variables_kept(self):
        for code in (
            "import time\ntime.sleep(60)",
            "while True: pass",
            "import threading\nthreading.Lock().acquire() and threading.Event().wait()",
            "import select\nselect.select([], [], [], 60)",
            "import queue\nqueue.Queue().get()",
        ):
            reply = self.assertStops(code)
            self.assertEqual(reply.error["name"], "KeyboardInterrupt")
            self.assertNotIn("_edge_repl", reply.traceback)
            self.assertNotIn("on_interrupt", reply.traceback)

    def test_await_stops_where_it_waits_and_cleans_up(self):
        reply = self.assertStops(
            "import asyncio\nlog = []\nasync def ticker():\n    while True:\n        await asyncio.sleep(0.01)\n        log.append(1)\n"
            "async def job():\n    try:\n        await asyncio.sleep(60)\n    finally:\n        log.append('clean')\n"
            "t = asyncio.create_task(ticker())\nawait job()"
        )
        self.assertIn("in job", reply.traceback)
        self.assertValue("(True, True)", "'clean' in log, t.cancelled()")
        self.assertValue("3", "await asyncio.sleep(0, 3)")
        self.assertStops("asyncio.run(job())")
        self.assertValue("3", "asyncio.run(asyncio.sleep(0, 3))")

    def test_child_processes_stop_too(self):
        self.assertStops("import subprocess\nsubprocess.run(['sleep', '60'])")
        self.assertStops("import os\nos.system('sleep 60')\nos.system('sleep 60')")
        self.assertStops("import os\nos.system('sleep 60')")

    def test_code_that_ends_because_of_the_interrupt_is_aborted(self):
        reply = self.assertStops("import time\ntry:\n    time.sleep(60)\nexcept KeyboardInterrupt:\n    print('cleaned')")
        self.assertTrue(reply.text.endswith("cleaned\n"))
        reply = self.assertStops("import time\ntry:\n    time.sleep(60)\nexcept KeyboardInterrupt:\n    raise ValueError(3)")
        self.assertEqual(reply.error["name"], "ValueError")

    def test_handlers_of_user_code_do_not_stand_in_the_way(self):
        self.run_cells("import signal\ndef handler(*_): seen.append(1)\nseen = []\nold = signal.signal(signal.SIGINT, handler)")
        self.assertStops("import time\ntime.sleep(60)")
        self.assertValue("[1]", "import os\nos.kill(os.getpid(), signal.SIGINT)\nseen")
        self.run_cells("signal.signal(signal.SIGINT, signal.SIG_IGN)")
        self.assertStops("import time\ntime.sleep(60)")
        self.assertValue("5", "os.kill(os.getpid(), signal.SIGINT)\n5")

    def test_an_interrupt_that_comes_too_late_is_ignored(self):
        self.assertValue("2", "1 + 1")
        self.worker.send("interrupt", id=1, grace=1)
        self.assertValue("3", "import time\ntime.sleep(0.5)\n1 + 2")

    def test_repr_and_traceback_can_be_interrupted(self):
        self.assertStops("class Slow:\n    def __repr__(self):\n        while True: pass\nSlow()")
        self.assertStops("class Slow(Exception):\n    def __str__(self):\n        while True: pass\nraise Slow")

    def test_code_that_ignores_interrupts_is_killed_with_its_children(self):
        code = (
            "import subprocess, time\np = subprocess.Popen(['setsid', 'sleep', '300'])\nprint('pid', p.pid, 'started', flush=True)\n"
            "while True:\n    try:\n        time.sleep(0.05)\n    except BaseException:\n        print('no', end=' ')"
        )
        self.worker.start(code)
        frames = [self.worker.receive()]
        while "started" not in frames[-1].get("text", ""):
            frames.append(self.worker.receive())
        child = int("".join(frame["text"] for frame in frames).split()[1])
        begin = time.monotonic()
        reply = self.worker.interrupt(0.8)
        self.assertTrue(0.7 < time.monotonic() - begin < 3)
        self.assertEqual((reply.status, reply.end["aborted"], reply.end["id"]), ("died", True, 1))
        self.assertIn("no ", reply.text)
        self.assertIsNone(self.worker.receive())
        self.assertFalse(is_running(child) or is_running(self.worker.ready["pid"]))

    def test_code_in_c_is_killed(self):
        self.worker.start("print('started', end='')\nsum(range(10 ** 13))")
        self.worker.wait_for_text("started")
        reply = self.worker.interrupt(0.5)
        self.assertEqual((reply.status, reply.end.get("aborted")), ("died", True))


class Deaths(WorkerCase):
    def test_a_death_is_named_and_comes_after_the_output(self):
        for code, detail in (
            ("import os\nprint('last'); os._exit(3)", "exited with code 3"),
            ("import ctypes\nprint('last'); ctypes.string_at(0)", "killed by SIGSEGV"),
            ("import os\nprint('last'); os.abort()", "killed by SIGABRT"),
            ("import os, signal\nprint('last', end=''); os.kill(os.getpid(), signal.SIGTERM)", "killed by SIGTERM"),
        ):
            reply = self.make().run(code)
            self.assertEqual((reply.status, reply.end["detail"], reply.end["aborted"]), ("died", detail, False))
            if "end=''" not in code:
                self.assertEqual(reply.text, "last\n", code)

    def test_death_of_an_idle_kernel_is_told_at_once(self):
        self.run_cells("import signal\nsignal.setitimer(signal.ITIMER_REAL, 0.05)")
        frame = self.worker.receive()
        self.assertEqual((frame["type"], frame["id"], frame["detail"]), ("died", None, "killed by SIGALRM"))

    def test_a_signal_handler_that_raises_between_cells_harms_nothing(self):
        self.run_cells(
            "import signal\nseen = []\ndef handler(*_):\n    seen.append(1)\n    raise RuntimeError\n"
            "signal.signal(signal.SIGALRM, handler)\nsignal.setitimer(signal.ITIMER_REAL, 0.01, 0.01)"
        )
        pid = self.worker.ready["pid"]
        before = _switches(pid)
        wait_until(lambda: _switches(pid) > before + 10, "signals between the cells")
        self.worker.run("signal.setitimer(signal.ITIMER_REAL, 0)")
        self.worker.run("signal.setitimer(signal.ITIMER_REAL, 0)")
        self.assertValue("True", "len(seen) > 5")

    def test_memory_limit_gives_memory_error(self):
        self.make(EDGE_REPL_MEMORY_MB="1024")
        self.assertError("MemoryError", "keep = 9\nb = bytearray(8 << 30)")
        self.assertValue("9", "keep")

    def test_memory_used_up_is_an_error_and_told(self):
        self.make(EDGE_REPL_MEMORY_MB="300")
        for code in ("x = []\nwhile True: x.append(bytearray(100000))", "x = []\nwhile True: x.append([0] * 9)"):
            self.assertError("MemoryError", code)
            self.assertValue("True", "len(x) > 1000")
            self.assertError("ZeroDivisionError", "1 / 0")
            self.run_cells("del x")

    def test_recursion_without_end_is_short(self):
        reply = self.assertError("RecursionError", "keep = 4\ndef f(): return f() + 1\nf()")
        self.assertLess(len(reply.traceback), 2000)
        reply = self.assertError("RecursionError", "def g(n): return h(n)\ndef h(n): return g(n)\ng(1)")
        self.assertLess(len(reply.traceback), 6000)
        self.assertError("RecursionError", "x = []\nfor _i in range(100000): x = [x]\nx")
        self.assertValue("4", "keep")

    def test_tiny_recursion_limit_left_behind_harms_nothing(self):
        self.run_cells("import sys\nsys.setrecursionlimit(60)")
        self.assertError("ZeroDivisionError", "1 / 0")
        self.assertValue("60", "sys.getrecursionlimit()")


class Ends(WorkerCase):
    def start_tree(self, worker):
        """Leaves processes of all kinds behind and returns their pids."""
        reply = worker.run(
            "import os, subprocess, sys\n"
            "ids = [subprocess.Popen(['sleep', '300']).pid, subprocess.Popen(['setsid', 'sleep', '300']).pid]\n"
            "daemon = 'import os, sys, time; os.fork() and os._exit(0); os.setsid(); os.fork() and os._exit(0); '\n"
            "daemon += 'print(os.getpid(), flush=True); os.close(1); time.sleep(300)'\n"
            "d = subprocess.Popen([sys.executable, '-S', '-c', daemon], stdout=subprocess.PIPE)\n"
            "ids.append(int(d.stdout.readline())); _ = d.wait()\nids"
        )
        pids = [int(pid) for pid in reply.value.strip("[]").split(",")]
        self.assertEqual([is_running(pid) for pid in pids], [True] * 3)
        return pids + [worker.ready["pid"]]

    def assertAllGone(self, pids):
        wait_until(lambda: not any(is_running(pid) for pid in pids), "the end of %r" % pids)

    def test_shutdown_runs_exit_handlers_and_leaves_nothing(self):
        path = os.path.join(self.folder(), "bye")
        # The cell outlasts the moment at which the monitor becomes the parent of orphans.
        self.run_cells("import atexit, time\ntime.sleep(0.1)\n_ = atexit.register(lambda: open(%r, 'w').close())" % path)
        pids = self.start_tree(self.worker)
        self.worker.send("shutdown", grace=5)
        self.assertIsNone(self.worker.receive())
        self.assertEqual(self.worker.process.wait(5), 0)
        self.assertTrue(os.path.exists(path))
        self.assertAllGone(pids)

    def test_shutdown_is_bounded_by_its_grace(self):
        self.run_cells("import atexit, time\n_ = atexit.register(time.sleep, 600)")
        begin = time.monotonic()
        self.worker.send("shutdown", grace=0.3)
        self.assertIsNone(self.worker.receive())
        self.assertEqual(self.worker.process.wait(5), 0)
        self.assertLess(time.monotonic() - begin, 3)

    def test_shutdown_ends_a_running_cell(self):
        self.worker.start("print('started')\nimport time\ntime.sleep(60)")
        self.worker.wait_for_text("started")
        self.worker.send("shutdown", grace=1)
        self.assertEqual(self.worker.finish().status, "died")
        self.assertEqual(self.worker.process.wait(5), 0)

    def test_the_server_going_away_ends_everything_at_once(self):
        self.run_cells("import time\ntime.sleep(0.1)")
        pids = self.start_tree(self.worker)
        self.worker.start("sum(range(10 ** 13))")
        self.worker.process.stdin.close()
        self.worker.process.wait(5)
        self.assertAllGone(pids)

    def test_a_killed_monitor_takes_the_kernel_along_even_in_c_code(self):
        pid = self.worker.ready["pid"]
        self.worker.start("import os, signal\nos.kill(os.getppid(), signal.SIGKILL)\nsum(range(10 ** 13))")
        self.worker.process.wait(5)
        wait_until(lambda: not is_running(pid), "the kernel's end")


class Forgery(WorkerCase):
    def test_writing_on_all_low_descriptors_costs_at_most_the_kernel(self):
        reply = self.worker.run(
            "import os\nfor fd in range(3, 512):\n    try: os.write(fd, b'{\"type\":\"done\"}' * 100)\n    except OSError: pass\n6 * 7"
        )
        self.assertIn(reply.value, ("42",))
        self.assertValue("10", "5 + 5")

    def test_junk_on_the_private_pipes_is_never_a_reply(self):
        reply = self.worker.run(
            "import os\nfor fd in range(512, 600):\n    try: os.write(fd, b'forged' * 30)\n    except OSError: pass\n6 * 7"
        )
        self.assertEqual((reply.status, reply.end.get("detail")), ("died", "protocol broken by the code that ran"))
        self.assertEqual(reply.bundles, [])

    def test_settings_and_the_server_s_pipes_are_out_of_sight(self):
        self.make(EDGE_REPL_MEMORY_MB="4000")
        self.assertValue("[]", "import os\n[name for name in os.environ if 'EDGE_REPL' in name]")
        self.assertValue("True", "os.getppid() == %d" % self.worker.process.pid)


def _switches(pid):
    with open("/proc/%d/status" % pid) as file:
        return sum(int(line.split()[1]) for line in file if "ctxt_switches" in line)


if __name__ == "__main__":
    unittest.main()
