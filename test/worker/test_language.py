"""What code means: values, namespaces, indentation, magics, await."""

import sys
import unittest

from support import WorkerCase


class Values(WorkerCase):
    def test_last_expression_is_shown_once_by_one_repr(self):
        reply = self.run_cells(
            "calls = 0\nclass Noisy:\n    def __repr__(self):\n        global calls\n        calls += 1\n        return 'n%d' % calls",
            "Noisy()",
        )
        self.assertEqual([bundle["text/plain"] for bundle in reply.bundles], ["n1"])
        self.assertValue("1", "calls")

    def test_none_and_statements_show_nothing(self):
        for code in ("None", "x = 1", "# only a note", "", "   \n\t\n", "print('a')"):
            self.assertEqual(self.worker.run(code).bundles, [], code)

    def test_semicolon_after_the_last_expression_hushes_it(self):
        for code in ("40 + 2;", "40 + 2;  # quiet", "40 + 2 ; ", "(40 + 2);", "'é';", "40 + 2 \\\n;"):
            self.assertIsNone(self.worker.run(code).value, code)
        for code, value in (("40 + 3  # loud;", "43"), ("'ab' + ';'", "'ab;'"), ("a = 1; a", "1"), ("'é;'", "'é;'")):
            self.assertValue(value, code)

    def test_underscore_holds_the_last_value(self):
        self.assertValue("12", "5", "print('no value')", "None", "_ + 7")

    def test_displayhook_of_user_code_is_used(self):
        reply = self.run_cells("import sys\nsys.displayhook = lambda value: print('mine', value)", "3")
        self.assertEqual((reply.stdout, reply.bundles), ("mine 3\n", []))

    def test_values_shown_in_other_ways_keep_their_order(self):
        reply = self.worker.run("import sys\nfor i in range(2):\n    sys.displayhook(i)\n    print('p')\nsys.displayhook(7) or 8")
        self.assertEqual(
            reply.order, [("value", "0"), ("stdout", "p\n"), ("value", "1"), ("stdout", "p\n"), ("value", "7"), ("value", "8")]
        )

    def test_a_value_shown_within_the_last_expression_comes_before_what_follows(self):
        reply = self.worker.run("import sys\nsys.displayhook(5), print('p')")
        self.assertEqual(reply.order, [("value", "5"), ("stdout", "p\n"), ("value", "(None, None)")])

    def test_huge_repr_is_bounded(self):
        reply = self.worker.run("list(range(3_000_000))")
        self.assertLess(len(reply.value), 140000)
        self.assertRegex(reply.value[60000:-60000], r"\.\.\. \[\d+ characters omitted\] \.\.\.")
        self.assertTrue(reply.value.startswith("[0, 1,") and reply.value.endswith("2999999]"))
        self.assertLess(len(self.worker.run("{i: 'v' * 50 for i in range(200_000)}").value), 140000)

    def test_repr_that_raises_is_an_error(self):
        reply = self.assertError("ZeroDivisionError", "class Bad:\n    def __repr__(self): return 1 // 0\nBad()")
        self.assertIn('File "<stdin>", line 3, in <module>', reply.traceback)
        self.assertIn('File "<stdin>", line 2, in __repr__', reply.traceback)

    def test_repr_that_is_no_string_is_an_error(self):
        self.assertError("TypeError", "class Bad:\n    def __repr__(self): return 1\nBad()")


class Namespace(WorkerCase):
    def test_main_is_the_namespace(self):
        self.assertValue("True", "x = 5\nimport __main__, sys", "__main__.x == 5 and sys.modules['__main__'] is __main__")
        self.assertValue("5", "hits = 0\nif __name__ == '__main__':\n    hits += 5\nhits")

    def test_starts_with_no_names_of_ours(self):
        names = self.worker.run("sorted(name for name in globals() if not name.startswith('__'))").value
        self.assertEqual(names, "[]")
        self.assertValue("['']", "import sys; sys.argv")
        self.assertValue("''", "sys.path[0]")

    def test_modules_of_the_worker_cannot_be_imported_by_their_names(self):
        for name in ("kernel", "language", "display", "streams", "main"):
            self.assertError("ModuleNotFoundError", "import " + name)

    def test_pickle_and_dataclasses_work(self):
        self.assertValue("True", "import pickle\nclass Box: pass", "type(pickle.loads(pickle.dumps(Box()))) is Box")
        self.assertValue("P(a=4)", "import dataclasses\n@dataclasses.dataclass\nclass P:\n    a: int\nP(4)")

    def test_doctests_and_unit_tests_work(self):
        self.assertValue(
            "TestResults(failed=0, attempted=1)",
            "import doctest\ndef sq(x):\n    '''\n    >>> sq(3)\n    9\n    '''\n    return x * x\ndoctest.testmod()",
        )
        reply = self.worker.run(
            "import unittest\nclass T(unittest.TestCase):\n    def test(self): pass\nunittest.main(argv=[''], exit=False);"
        )
        self.assertIn("Ran 1 test", reply.stderr)

    def test_source_can_be_inspected(self):
        self.run_cells("def trip(n):\n    return n * 3\n", "class Box:\n    size = 4\n", "class Box:\n    size = 5\n", "import inspect")
        self.assertValue("'def trip(n):\\n    return n * 3\\n'", "inspect.getsource(trip)")
        self.assertValue("'class Box:\\n    size = 5\\n'", "inspect.getsource(Box)")
        self.assertValue("True", "import linecache\nlinecache.clearcache()", "inspect.getsource(trip).startswith('def')")
        self.assertValue("True", "linecache.checkcache()\ninspect.getsource(trip).startswith('def')")

    def test_warnings_of_one_cell_do_not_hush_those_of_the_next(self):
        first, second = [self.worker.run("import warnings\nwarnings.warn('careful')") for _ in range(2)]
        self.assertEqual(first.stderr, "<block 1>:2: UserWarning: careful\n  warnings.warn('careful')\n")
        self.assertEqual(second.stderr, "<block 2>:2: UserWarning: careful\n  warnings.warn('careful')\n")

    def test_module_written_after_a_failed_import_is_found(self):
        folder = self.folder()
        self.run_cells(
            "import os, sys\nsys.path.insert(0, %r)\nopen(os.path.join(%r, 'aaa0.py'), 'w').close()\nimport aaa0" % (folder, folder),
            "st = os.stat(%r)\ntry:\n    import zz_mod9\nexcept ImportError:\n    pass\n"
            "open(os.path.join(%r, 'zz_mod9.py'), 'w').write('K = 77')\n"
            "os.utime(%r, ns=(st.st_atime_ns, st.st_mtime_ns))" % (folder, folder, folder),
        )
        self.assertValue("77", "import zz_mod9\nzz_mod9.K")


class Compiling(WorkerCase):
    def test_nothing_is_inherited_from_the_worker(self):
        self.assertValue("True", "def f(a: int): ...\nf.__annotations__['a'] is int")

    def test_future_import_acts_on_its_cell_only(self):
        self.assertValue(
            "'Miss'", '"""doc"""\nfrom __future__ import annotations\ndef g(v: Miss): return v\ng.__annotations__["v"]'
        )
        self.assertValue("True", "def f(a: int): ...\nf.__annotations__['a'] is int")
        reply = self.assertError("SyntaxError", "x = 1\nfrom __future__ import annotations")
        self.assertIn("beginning of the file", reply.traceback)

    def test_uniform_indentation_is_accepted(self):
        self.assertValue("9", "    q = 8\n    q + 1")
        self.assertValue("1", "    \nfor i in range(2):\n    t = i\nt")
        self.assertValue("6", "  # note\n\tif 1:\n\t\tz = 5\n\tz + 1")
        self.assertIsNone(self.worker.run("    5;").value)

    def test_strings_keep_their_blanks(self):
        self.assertValue("10", "s = '''\n    keep\n'''\nlen(s)")
        self.assertValue("10", "    s = '''\n    keep\n'''\n    len(s)")

    def test_wrong_indentation_is_an_error(self):
        self.assertIn("unexpected indent", self.assertError("IndentationError", "a = 1\n  b = 2").traceback)
        self.assertIn("unexpected indent", self.assertError("IndentationError", "  a = 1\nb = 2").traceback)
        self.assertIn("line 2", self.assertError("SyntaxError", "    a = 1\n    b = = 2").traceback)
        self.assertError("TabError", "if True:\n\tx = 1\n        y = 2")

    def test_tabs_line_breaks_and_a_byte_order_mark(self):
        self.assertValue("5", "\ufeffx = 5\nx")
        self.assertValue("3", "if True:\n\tt = 'a\tb'\nlen(t)")
        self.assertValue("3", "s = 'p' + '\\t' + 'q'\r\nlen(s)")
        self.assertValue("5", "len('x\\ny') + len(r'\\n')")

    def test_syntax_error_runs_nothing_and_points_at_the_place(self):
        reply = self.assertError("SyntaxError", "zz1 = 1\nzz2 = = 2")
        self.assertRegex(reply.traceback, r'File "<stdin>", line 2\n    zz2 = = 2\n +\^\nSyntaxError')
        self.assertValue("False", "'zz1' in globals()")
        reply = self.assertError("SyntaxError", "zz1 = 1\nreturn 5")
        self.assertIn("    return 5\n", reply.traceback)
        self.assertValue("False", "'zz1' in globals()")

    def test_text_that_cannot_be_source_is_an_error(self):
        self.assertEqual(self.worker.run("a = 'x\0y'").status, "error")
        self.assertError("UnicodeEncodeError", "a = '\ud83d'")
        self.assertValue("2", "1 + 1")

    def test_deep_nesting_is_an_error_or_works(self):
        self.assertEqual(self.worker.run("x = " + "(" * 5000 + ")" * 5000).status, "error")
        self.assertEqual(self.worker.run("x = " + "-" * 20000 + "1").status, "error")
        self.assertValue("2", "1 + 1")

    def test_hints_for_what_models_send(self):
        self.assertIn("markdown fences", self.assertError("SyntaxError", "```python\n6 * 7\n```").traceback)
        self.assertValue("5", "s = '```py'\nlen(s)")
        escaped = self.assertError("SyntaxError", "a = 2\\nprint(a * 21)")
        self.assertIn("line continuation", escaped.traceback)
        self.assertIn("real line breaks", escaped.traceback)
        self.assertIn("install_package", self.assertError("SyntaxError", "pip install numpy").traceback)
        self.assertIn("capture_output", self.assertError("SyntaxError", "x = !ls").traceback)
        self.assertIn("install_package", self.assertError("ModuleNotFoundError", "import no_such_module_9").traceback)


class Magics(WorkerCase):
    def test_shell_lines_run(self):
        self.assertEqual(self.worker.run("!echo mag$((3*3))").stdout, "mag9\n")
        self.assertEqual(self.worker.run("n = 'x y'\nfor i in range(2):\n    !echo {n} {i} {other}").stdout.count("x y 1 {other}"), 1)
        self.assertEqual(self.worker.run("!exit 3").stderr, "[exit code 3]\n")

    def test_lines_of_python_that_look_like_magics_are_left_alone(self):
        self.assertValue("2", "v = (17\n% 5)\nv")
        self.assertValue("1", "w = '''\n!ls\n'''\nw.count('!')")
        self.assertValue("(2, 1)", "v = (17\n% 5)\nw = '''\n!ls \\'''\n'''\n%time x = 1\nv, w.count('!')")
        self.assertValue("17", "v = 17 \\\n% 20\n%matplotlib inline\nv")

    def test_line_magics(self):
        folder = self.folder()
        self.assertEqual(self.worker.run("%cd " + folder).stdout, folder + "\n")
        self.assertEqual(self.worker.run("1").end["cwd"], folder)
        self.assertValue("'b c'", "%env RPL_MAGIC=b c", "%env RPL_MAGIC")
        timed = self.worker.run("%time sum(range(10))")
        self.assertIn("Wall time", timed.stdout)
        self.assertEqual(timed.value, "45")
        self.assertIn("per loop", self.worker.run("%timeit -n 2 -r 2 1 + 1").stdout)
        self.assertIn("Wall time", self.worker.run("%%time\ny = 5\nz = y").stdout)
        self.assertValue("5", "z")

    def test_other_magics_name_the_alternative_and_run_nothing(self):
        for magic, wanted in (
            ("%pip install numpy", "install_package"),
            ("!pip install numpy", "install_package"),
            ("%run x.py", "run_file"),
            ("%%bash\nls", "subprocess"),
            ("%load_ext autoreload", "Import"),
            ("%nonsense", "Python"),
            ("%%writefile x.py\n1", "write"),
        ):
            reply = self.assertError("SyntaxError", "left = 1\n" * (magic[:2] != "%%") + magic)
            self.assertIn("is not available here. ", reply.traceback)
            self.assertIn(wanted, reply.traceback)
        self.assertValue("False", "'left' in globals()")


class Await(WorkerCase):
    def test_await_and_async_blocks_at_the_top_level(self):
        self.assertValue("34", "import asyncio\nawait asyncio.sleep(0.01, result=17 * 2)")
        self.assertValue(
            "[12, 13, 14]",
            "from contextlib import asynccontextmanager\n@asynccontextmanager\nasync def ctx():\n    yield 4\n"
            "async def gen():\n    for i in range(3):\n        yield i\ntot = 0\nasync with ctx() as k:\n"
            "    async for i in gen():\n        tot += i * k\n[tot + j async for j in gen()]",
        )
        self.assertIsNone(self.worker.run("await asyncio.sleep(0, 5);").value)

    def test_await_and_loops_of_their_own_mix_in_any_order(self):
        self.assertValue("64", "import asyncio\nasync def m(): return 8 * 8\nasyncio.run(m())")
        self.assertValue("64", "await m()")
        self.assertValue("65", "asyncio.run(m()) + 1")
        self.assertValue("64", "lp = asyncio.new_event_loop()\nlp.run_until_complete(m())")
        self.assertValue("64", "await m()")

    def test_one_loop_for_all_cells(self):
        self.run_cells("import asyncio\nq = asyncio.Queue()\nawait q.put(5)\nlp1 = asyncio.get_running_loop()")
        self.assertValue("(5, True)", "(await q.get(), asyncio.get_running_loop() is lp1)")

    def test_tasks_go_on_in_later_cells_and_between_them(self):
        self.run_cells(
            "import asyncio\nlog = []\nasync def job():\n    await asyncio.sleep(0.05)\n    log.append(1)\n    return 99",
            "t = asyncio.create_task(job())\nawait asyncio.sleep(0)",
        )
        self.assertValue("99", "await t")
        self.run_cells("t = asyncio.create_task(job())", "import time\ntime.sleep(0.2)")
        self.assertValue("(True, 2)", "t.done(), len(log)")

    def test_context_variables_set_in_a_cell_last(self):
        self.run_cells("import asyncio, contextvars\nv = contextvars.ContextVar('v')\nv.set(3)\nawait asyncio.sleep(0)\nv.set(4);")
        self.assertValue("4", "v.get()")
        self.assertValue("4", "await asyncio.sleep(0)\nv.get()")

    def test_error_in_a_coroutine_shows_only_frames_of_user_code(self):
        reply = self.assertError("ZeroDivisionError", "async def boom():\n    1 / 0\nawait boom()")
        files = [line for line in reply.traceback.split("\n") if line.startswith("  File")]
        self.assertEqual(files, ['  File "<stdin>", line 3, in <module>', '  File "<stdin>", line 2, in boom'])

    def test_hint_when_a_loop_is_started_inside_the_loop(self):
        reply = self.assertError("RuntimeError", "import asyncio\nawait asyncio.sleep(0)\nasyncio.run(asyncio.sleep(0))")
        self.assertIn("write await instead", reply.traceback)

    def test_exit_inside_a_coroutine_ends_the_cell_only(self):
        self.assertError("SystemExit", "import asyncio, sys\nkeep = 3\nawait asyncio.sleep(0)\nsys.exit(4)")
        self.assertValue("3", "await asyncio.sleep(0)\nkeep")


class Exits(WorkerCase):
    def test_exit_ends_the_cell_and_shows_code_or_text(self):
        self.run_cells("n = 5\nimport sys")
        self.assertTrue(self.assertError("SystemExit", "sys.exit(3)").traceback.endswith("SystemExit: 3"))
        self.assertIn("boom7", self.assertError("SystemExit", "sys.exit('bo' + 'om7')").traceback)
        for code in ("exit()", "quit(0)", "raise SystemExit"):
            self.assertError("SystemExit", code)
        self.assertValue("6", "n + 1")

    def test_keyboard_interrupt_that_user_code_raises_is_an_error(self):
        self.assertError("KeyboardInterrupt", "raise KeyboardInterrupt")
        self.assertError("KeyboardInterrupt", "import os, signal\nos.kill(os.getpid(), signal.SIGINT)\nimport time\ntime.sleep(5)")


if sys.version_info >= (3, 11):

    class NewSyntax(WorkerCase):
        def test_exception_groups_and_notes(self):
            self.assertIsNone(self.worker.run("try:\n    raise ValueError(1)\nexcept* ValueError:\n    pass").value)
            reply = self.assertError("ExceptionGroup", "raise ExceptionGroup('eg', [ValueError(1), TypeError('x')])")
            self.assertIn("| ValueError: 1", reply.traceback)
            self.assertIn("| TypeError: x", reply.traceback)
            reply = self.assertError("ValueError", "e = ValueError('v')\ne.add_note('noted 7')\nraise e")
            self.assertTrue(reply.traceback.endswith("ValueError: v\nnoted 7"))


if __name__ == "__main__":
    unittest.main()
