"""Tracebacks as CPython prints them, and code that damages what it runs in."""

import unittest

from support import WorkerCase


class Tracebacks(WorkerCase):
    def test_frames_of_all_cells_have_their_source(self):
        self.run_cells("def bad(z):\n    w = z\n    return w // 0")
        reply = self.assertError("ZeroDivisionError", "a = 1\nb = 2\nbad(a + b)")
        lines = [line for line in reply.traceback.split("\n") if not set(line) <= set(" ~^")]
        self.assertEqual(lines[0], "Traceback (most recent call last):")
        self.assertEqual(
            lines[1:5],
            ['  File "<stdin>", line 3, in <module>', "    bad(a + b)", '  File "<block 1>", line 3, in bad', "    return w // 0"],
        )
        self.assertEqual(len(lines), 6)

    def test_a_number_used_again_names_another_block(self):
        self.worker.number = 4
        self.run_cells("def first(): 1 / 0")
        self.worker.number = 4
        self.run_cells("def second(): first()")
        reply = self.assertError("ZeroDivisionError", "second()")
        self.assertIn('File "<block 5.2>", line 1, in second\n    def second(): first()', reply.traceback)
        self.assertIn('File "<block 5>", line 1, in first\n    def first(): 1 / 0', reply.traceback)

    def test_causes_and_contexts_are_shown(self):
        reply = self.assertError(
            "RuntimeError", "try:\n    {}['k' + 'ey9']\nexcept KeyError as e:\n    raise RuntimeError('out' + 'er7') from e"
        )
        for wanted in ("KeyError: 'key9'", "direct cause", "RuntimeError: outer7"):
            self.assertIn(wanted, reply.traceback)
        reply = self.assertError("ValueError", "try:\n    1 / 0\nexcept ZeroDivisionError:\n    raise ValueError('v')")
        self.assertIn("During handling of the above exception", reply.traceback)

    def test_an_exception_that_cannot_be_shown_is_still_told(self):
        reply = self.assertError("Bad", "class Bad(Exception):\n    def __str__(self): return 1 // 0\nraise Bad()")
        self.assertTrue(reply.traceback.endswith("Bad: <exception str() failed>"), reply.traceback)
        self.assertEqual(reply.error["message"], "<exception str() failed>")

    def test_text_of_other_classes_is_told(self):
        code = "class S(str): pass\nclass Bad(Exception):\n    def __str__(self): return S('odd')\nBad.__name__ = S('Odd')\nraise Bad"
        self.assertEqual(self.assertError("Odd", code).error["message"], "odd")

    def test_a_huge_message_is_bounded(self):
        reply = self.assertError("ValueError", "raise ValueError('x' * 5_000_000)")
        self.assertLess(len(reply.traceback), 40000)
        self.assertLess(len(reply.error["message"]), 10000)

    def test_a_class_with_a_strange_metaclass_is_told(self):
        self.assertError("Odd", "class Odd(Exception):\n    @property\n    def args(self): raise RuntimeError\nraise Odd()")

    def test_a_deep_chain_is_told(self):
        reply = self.worker.run(
            "def deep(n):\n    try:\n        if n: deep(n - 1)\n        raise ValueError(n)\n    except ValueError as e:\n"
            "        raise KeyError(n) from e\ndeep(200)"
        )
        self.assertEqual(reply.error["name"], "KeyError")
        self.assertLess(len(reply.traceback), 40000)

    def test_warnings_show_their_line(self):
        reply = self.worker.run("import warnings\ndef old():\n    warnings.warn('dep', DeprecationWarning, stacklevel=2)\nold()")
        self.assertEqual(reply.stderr, "<block 1>:4: DeprecationWarning: dep\n  old()\n")


class Damage(WorkerCase):
    def test_deleted_builtins(self):
        self.run_cells("import builtins\ndel builtins.print, builtins.len, builtins.repr, builtins.isinstance, builtins.__import__\nopen = str = None")
        self.assertValue("42", "7 * 6")
        self.assertIn("1 / 0", self.assertError("ZeroDivisionError", "1 / 0").traceback)
        self.assertError("NameError", "len([1])")
        self.worker.run("async def f(): pass\nawait f()")
        self.assertValue("3", "1 + 2")

    def test_replaced_builtins(self):
        self.run_cells("import builtins\nfor name in ('len', 'str', 'isinstance', 'getattr', 'list', 'dict', 'type'): setattr(builtins, name, None)")
        self.assertIn("1 / 0", self.assertError("ZeroDivisionError", "1 / 0").traceback)
        self.assertValue("True", "len is None and str is None")

    def test_main_replaced_and_modules_emptied(self):
        self.run_cells("x = 5\nimport sys\nsys.modules['__main__'] = None")
        self.assertValue("5", "x")
        self.run_cells("keep = set(sys.builtin_module_names)\nfor name in list(sys.modules):\n    if '_edge' in name: del sys.modules[name]")
        self.assertIn("1 / 0", self.assertError("ZeroDivisionError", "1 / 0").traceback)
        self.assertValue("5", "x")

    def test_tracing_and_display_hooks_left_behind(self):
        self.run_cells("import sys\nsys.settrace(lambda *_: None)\ndel sys.displayhook\nsys.last_value = 3")
        self.assertValue("(True, 3)", "sys.gettrace() is None, 3")

    def test_names_of_the_module_deleted(self):
        self.run_cells("globals().clear()")
        self.assertValue("'__main__'", "__name__")
        self.assertError("ZeroDivisionError", "1 / 0")

    def test_path_and_finders_emptied(self):
        self.run_cells("import sys\npath = sys.path[:]\nsys.path[:] = []\nsys.argv = None\nsys.path_importer_cache.clear()")
        self.assertIn("1 / 0", self.assertError("ZeroDivisionError", "1 / 0").traceback)
        self.assertIsNone(self.run_cells("async def f(): pass\nawait f()").value)

    def test_current_folder_removed(self):
        folder = self.folder()
        self.run_cells("import os\nos.mkdir(%r)\nos.chdir(%r)\nos.rmdir(%r)" % ((folder + "/gone",) * 3))
        self.assertValue("2", "1 + 1")
        self.assertError("ZeroDivisionError", "1 / 0")
        self.assertEqual(self.worker.run(path="x.py").end["code"], "FILE_NOT_FOUND")


if __name__ == "__main__":
    unittest.main()
