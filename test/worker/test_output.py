"""What is captured: all that is written, by whoever, in order, bounded."""

import os
import time
import unittest

from support import WorkerCase, wait_until


class Order(WorkerCase):
    def test_stdout_stderr_and_values_come_as_written(self):
        reply = self.worker.run(
            "import os, sys\nfor i in range(20):\n    print('o', i)\n    print('e', i, file=sys.stderr)\n"
            "    os.write(2, b'raw\\n')\n    display(i)\n'last'"
        )
        wanted = []
        for i in range(20):
            wanted += [("stdout", "o %d\n" % i), ("stderr", "e %d\nraw\n" % i), ("value", str(i))]
        self.assertEqual(reply.order, wanted + [("value", "'last'")])

    def test_children_come_in_order_with_partial_lines(self):
        reply = self.worker.run(
            "import os, subprocess, sys\nprint('a', end='')\n_ = os.system('echo b')\nprint('c', end='')\n"
            "_ = subprocess.run(['echo', 'd'])\n_ = subprocess.run('echo e >&2', shell=True)\nprint('f')\n"
            "_ = subprocess.run(['echo', 'g'], stdout=sys.stdout)"
        )
        self.assertEqual(reply.order, [("stdout", "ab\ncd\n"), ("stderr", "e\n"), ("stdout", "f\ng\n")])

    def test_c_code_comes_in_order(self):
        reply = self.worker.run(
            "import ctypes\nlibc = ctypes.CDLL(None)\nprint('a')\n_ = libc.printf(b'b\\n')\nprint('c')\n_ = libc.printf(b'd')"
        )
        self.assertEqual(reply.text, "a\nb\nc\nd")

    def test_output_is_sent_while_the_cell_runs(self):
        self.worker.start("import time\nprint('early')\ntime.sleep(30)")
        self.worker.wait_for_text("early")
        self.assertEqual(self.worker.interrupt().status, "aborted")

    def test_partial_line_is_sent_at_the_end(self):
        self.assertEqual(self.worker.run("print('y', end='')").text, "y")

    def test_threads_and_logging_write_too(self):
        reply = self.worker.run(
            "import logging, sys, threading\nlogging.warning('w')\nt = threading.Thread(target=print, args=('t',))\n"
            "t.start(); t.join()"
        )
        self.assertEqual(reply.order, [("stderr", "WARNING:root:w\n"), ("stdout", "t\n")])

    def test_uncaught_exception_of_a_thread_is_shown_with_its_source(self):
        reply = self.worker.run(
            "import threading\ndef f(): raise ValueError('th' + 'x7')\nt = threading.Thread(target=f); t.start(); t.join()"
        )
        self.assertEqual(reply.status, "ok")
        self.assertTrue(reply.stderr.startswith("Exception in thread Thread-"), reply.stderr)
        self.assertIn("def f(): raise ValueError('th' + 'x7')", reply.stderr)
        self.assertTrue(reply.stderr.endswith("ValueError: thx7\n"), reply.stderr)


    def test_an_error_that_nobody_can_catch_is_shown_with_its_source(self):
        reply = self.worker.run("class D:\n    def __del__(self): 1 / 0\nD(); None")
        self.assertTrue(reply.stderr.startswith("Exception ignored in: <function D.__del__ at "), reply.stderr)
        self.assertIn("    def __del__(self): 1 / 0\n", reply.stderr)


class Streams(WorkerCase):
    def test_streams_stay_the_same_objects(self):
        self.run_cells(
            "import logging, sys\nlg = logging.getLogger('t1')\nlg.setLevel(10)\nlg.addHandler(logging.StreamHandler())\n"
            "lg.addHandler(logging.StreamHandler(sys.stdout))\nout = sys.stdout"
        )
        reply = self.worker.run("lg.info('log44')")
        self.assertEqual((reply.stdout, reply.stderr), ("log44\n", "log44\n"))
        self.assertEqual(self.worker.run("out.write('keep12\\n');").text, "keep12\n")
        self.assertValue("(1, 'utf-8', '<stdout>')", "out.fileno(), out.encoding, out.name")

    def test_each_cell_starts_with_working_streams(self):
        for damage in (
            "import io, sys, gc\nw = io.TextIOWrapper(sys.stdout.buffer)\ndel w\nx = gc.collect()",
            "import sys\nsys.stdout.close(); sys.stderr.close()",
            "sys.stdout.detach(); sys.stderr.detach()",
            "sys.stdout.buffer.detach()",
            "sys.stdout = io.StringIO(); sys.stderr = None",
            "del sys.stdout, sys.__stdout__",
            "import os\nos.close(1); os.close(2)",
            "os.closerange(0, 256)",
            "os.dup2(os.open(os.devnull, os.O_WRONLY), 1)",
            "sys.stdout.reconfigure(encoding='latin-1', errors='strict')",
            "sys.stdout.buffer.raw.close()",
        ):
            self.worker.run(damage)
            reply = self.worker.run("import sys\nprint('é8'); print('err9', file=sys.stderr)")
            self.assertEqual((reply.stdout, reply.stderr), ("é8\n", "err9\n"), damage)

    def test_there_is_no_stdin(self):
        reply = self.assertError("EOFError", "input('na' + 'me?')")
        self.assertEqual(reply.stdout, "name?")
        self.assertIn("there is no stdin here", reply.traceback)
        self.assertIn("there is no stdin here", self.assertError("EOFError", "import getpass\ngetpass.getpass()").traceback)
        self.assertValue("(0, [])", "import sys", "(len(sys.stdin.read()), [line for line in sys.stdin])")
        self.assertValue("('', 0)", "sys.stdin.close()", "import os", "sys.stdin.read(), len(os.read(0, 10))")

    def test_breakpoint_does_nothing_and_a_debugger_leaves_no_tracer(self):
        reply = self.run_cells("keep = 5\nbreakpoint()\nkeep = 6")
        self.assertEqual((reply.status, reply.stderr.count("breakpoint()")), ("ok", 1))
        self.worker.run("import pdb\npdb.set_trace()\nkeep = 7")
        self.assertValue("(True, 6)", "import sys", "sys.gettrace() is None, keep")


class Characters(WorkerCase):
    def test_any_unicode_survives(self):
        text = "\x00 \x07 \x1b[31m \u2028 \u2029 \x85 \x0c \r é 👩‍👩‍👧 \U0010ffff \ud83d \udc80 \udfff"
        self.assertEqual(self.worker.run("print(%r, end='')" % text).text, text)
        self.assertEqual(self.worker.run("import sys\nsys.stderr.write(%r);" % text).text, text)
        self.assertValue("'\\udead'", "chr(0xdead)")
        self.assertEqual(self.assertError("ValueError", "raise ValueError(chr(0xd8ff) + 'x')").error["message"], "\ud8ffx")

    def test_bytes_that_are_not_utf8_are_replaced(self):
        self.assertEqual(self.worker.run("import os\n_ = os.write(1, b'\\xff\\xfe\\x80ok\\xc3')").text, "\ufffd\ufffd\ufffdok\ufffd")

    def test_characters_split_over_writes_survive(self):
        reply = self.worker.run(
            "import os, time\nfor byte in '👩é✓'.encode():\n    os.write(1, bytes([byte]))\n    time.sleep(0.02)"
        )
        self.assertEqual(reply.text, "👩é✓")

    def test_locale_does_not_matter(self):
        self.make(LC_ALL="C", PYTHONIOENCODING="cp1252", PYTHONUTF8="0")
        reply = self.worker.run("größe = '✓é'\nprint(größe)\nlen(größe), open('/proc/self/comm').encoding")
        self.assertEqual((reply.stdout, reply.value.lower()), ("✓é\n", "(2, 'utf-8')"))


class Bounds(WorkerCase):
    def test_head_and_tail_are_kept_and_the_rest_is_counted(self):
        self.make(head=100, tail=50)
        reply = self.worker.run("print('a' * 300, end=''); print('é' * 1000)")
        self.assertEqual(reply.text[:100], "a" * 100)
        self.assertEqual(reply.text[100:], "é" * 24 + "\n")
        self.assertEqual(reply.dropped, 1301 - len(reply.text))

    def test_nothing_is_dropped_where_head_and_tail_suffice(self):
        self.make(head=10, tail=1000)
        reply = self.worker.run("import sys\nfor i in range(30):\n    print(i); print('-', file=sys.stderr)")
        self.assertEqual(reply.order, [item for i in range(30) for item in (("stdout", "%d\n" % i), ("stderr", "-\n"))])
        self.assertEqual(reply.dropped, 0)

    def test_a_flood_is_cut_while_it_flows(self):
        reply = self.worker.run("print('q' * 20_000_000)\nfor i in range(20000):\n    print('x' * 99, i)\nprint('end')")
        self.assertLess(len(reply.text), 140000)
        self.assertTrue(reply.text.endswith("end\n"))
        self.assertGreater(reply.dropped, 20_000_000)
        with open("/proc/%d/status" % self.worker.process.pid) as file:
            peak = [line for line in file if line.startswith("VmHWM")][0]
        self.assertLess(int(peak.split()[1]), 60000, peak)

    def test_an_endless_print_is_stopped_with_head_and_tail(self):
        self.worker.start("n = 0\nwhile True:\n    print('line', n)\n    n += 1")
        self.worker.wait_for_text("line 9\n")
        reply = self.worker.interrupt()
        self.assertEqual(reply.status, "aborted")
        self.assertValue("True", "n > 9")


class Late(WorkerCase):
    def test_output_between_cells_comes_marked_with_the_next_cell(self):
        path = os.path.join(self.folder(), "written")
        self.run_cells(
            "import threading, time\ndef late():\n    time.sleep(0.05)\n    print('thr' + 'ead5')\n    open(%r, 'w').close()\n"
            "threading.Thread(target=late).start()" % path
        )
        wait_until(lambda: os.path.exists(path), "the thread's end")
        reply = self.worker.run("1 + 1")
        self.assertEqual((reply.late, reply.text, reply.value), ("thread5\n", "", "2"))

    def test_a_flooding_child_neither_blocks_nor_floods_later_cells(self):
        self.run_cells("import subprocess\np = subprocess.Popen(['sh', '-c', 'while :; do echo background; done'])")
        begin = time.monotonic()
        reply = self.run_cells("import time\ntime.sleep(0.3)", "1 + 1", "20 + 2")
        self.assertLess(time.monotonic() - begin, 5)
        self.assertEqual(reply.value, "22")
        self.assertLess(len(reply.late), 10000)
        self.assertValue("-9", "p.kill(); p.wait()")

    def test_a_child_that_fills_the_pipe_of_stderr_does_not_slow_prints(self):
        self.run_cells("import subprocess\np = subprocess.Popen(['sh', '-c', 'while :; do echo background >&2; done'])")
        begin = time.monotonic()
        self.assertEqual(self.worker.run("for i in range(200): print(i)").status, "ok")
        self.assertLess(time.monotonic() - begin, 5)


if __name__ == "__main__":
    unittest.main()
