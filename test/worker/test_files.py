"""Running files, and the file operations that the monitor answers."""

import base64
import json
import os
import stat
import unittest

from support import WorkerCase


class Scripts(WorkerCase):
    def write(self, folder, name, content):
        path = os.path.join(folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(content if isinstance(content, bytes) else content.encode("utf-8"))
        return path

    def test_a_file_runs_as_a_script_in_the_namespace(self):
        folder = self.folder()
        self.write(folder, "dír one/helper_q.py", "V = 50 + 5\n")
        path = self.write(
            folder,
            "dír one/main é.py",
            "import helper_q, os, sys\nprint(os.path.basename(__file__), helper_q.V, sys.argv, __name__)\n"
            "print(sys.path[0] == os.path.dirname(__file__))\ndef later():\n    import helper_r\n    return helper_r.W\n5\n",
        )
        self.write(folder, "dír one/helper_r.py", "W = 66\n")
        given = os.path.join(folder, "dír one", "..", "dír one", "main é.py")
        reply = self.worker.run(path=given)
        self.assertEqual((reply.status, reply.bundles), ("ok", []), reply.traceback)
        self.assertEqual(reply.stdout, "main é.py 55 %r __main__\nTrue\n" % [given])
        self.assertValue("(55, 66)", "helper_q.V, later()")
        self.assertValue("(False, [''], '')", "import sys\n'__file__' in globals(), sys.argv, sys.path[0]")
        self.assertTrue(os.path.exists(path))

    def test_relative_paths_start_at_the_current_folder(self):
        folder = self.folder()
        self.write(folder, "sub/rel.py", "print('rel5')")
        self.make(cwd=folder)
        self.assertEqual(self.worker.run(path="sub/rel.py").text, "rel5\n")
        self.run_cells("import os\nos.chdir('sub')")
        self.assertEqual(self.worker.run(path="rel.py").text, "rel5\n")

    def test_tracebacks_name_the_file(self):
        path = self.write(self.folder(), "fail_x.py", "def go():\n    return {}['q' + 'z']\ngo()\n")
        reply = self.worker.run(path=path)
        self.assertEqual(reply.error["name"], "KeyError")
        for wanted in ('File "%s", line 3, in <module>' % path, 'File "%s", line 2, in go' % path, "    return {}['q' + 'z']"):
            self.assertIn(wanted, reply.traceback)
        self.assertIn('File "%s", line 2, in go' % path, self.assertError("KeyError", "go()").traceback)
        self.write(os.path.dirname(path), "fail_x.py", "x = 1\nimport os\ny = = 2\n")
        reply = self.worker.run(path=path)
        self.assertIn('File "%s", line 3\n    y = = 2\n' % path, reply.traceback)

    def test_encodings_and_line_ends(self):
        folder = self.folder()
        for name, content in (
            ("bom.py", b"\xef\xbb\xbfprint('\xc3\xa9')\r\n"),
            ("latin.py", b"# -*- coding: latin-1 -*-\nprint('\xe9')\n"),
            ("crlf.py", b"if True:\r\n    s = '''\xc3\xa9'''\r\n    print(s)\r\n"),
        ):
            self.assertEqual(self.worker.run(path=self.write(folder, name, content)).text, "é\n", name)
        self.assertEqual(self.worker.run(path=self.write(folder, "empty.py", "")).status, "ok")

    def test_files_that_cannot_run_are_refused(self):
        folder = self.folder()
        for path, code, words in (
            (os.path.join(folder, "nope.py"), "FILE_NOT_FOUND", "nope.py"),
            ("no\0pe.py", "FILE_NOT_FOUND", "nope.py" and "pe.py"),
            (folder, "FILE_UNREADABLE", "folder"),
            ("/dev/null", "FILE_UNREADABLE", "regular"),
            (self.write(folder, "bin.py", b"\x00\x01\x02\xff"), "FILE_UNREADABLE", "null"),
            (self.write(folder, "bytes.py", b"print('\xe9')"), "FILE_UNREADABLE", "decoded"),
            (self.write(folder, "cookie.py", b"# coding: klingon\n"), "FILE_UNREADABLE", "klingon"),
            (self.write(folder, "n.ipynb", b"{}"), "FILE_UNREADABLE", "notebook"),
        ):
            reply = self.worker.run(path=path)
            self.assertEqual((reply.status, reply.end.get("code")), ("refused", code), path)
            self.assertIn(words, reply.end["message"])
        self.assertValue("2", "1 + 1")

    def test_a_notebook_runs_its_code_cells(self):
        cells = [
            {"cell_type": "code", "source": ["a = 5\n", "a"]},
            {"cell_type": "markdown", "source": "# no code"},
            {"cell_type": "code", "source": "%time b = a\nprint(a)\na + 1"},
        ]
        reply = self.worker.run(path=self.write(self.folder(), "n.ipynb", json.dumps({"nbformat": 4, "cells": cells})))
        self.assertEqual((reply.status, reply.value), ("ok", "6"), reply.traceback)

    def test_a_root_bounds_what_may_run(self):
        folder = self.folder()
        self.make(cwd=folder, EDGE_REPL_ROOT=folder)
        outside = self.write(self.folder(), "x.py", "print(1)")
        self.assertEqual(self.worker.run(path=outside).end["code"], "PATH_NOT_ALLOWED")
        os.symlink(outside, os.path.join(folder, "link.py"))
        self.assertEqual(self.worker.run(path="link.py").end["code"], "PATH_NOT_ALLOWED")
        self.assertEqual(self.worker.run(path=self.write(folder, "y.py", "print(2)")).text, "2\n")

    def test_user_files_named_like_modules_of_the_library_do_no_harm(self):
        folder = self.folder()
        for name in ("random", "json", "ast", "traceback", "linecache", "tokenize", "re", "asyncio", "contextvars", "warnings"):
            self.write(folder, name + ".py", "raise RuntimeError('shadow')\n")
        self.make(cwd=folder)
        self.assertValue("2", "1 + 1")
        self.assertError("RuntimeError", "import json")
        self.assertIn("1 / 0", self.assertError("ZeroDivisionError", "1 / 0").traceback)
        self.assertIsNone(self.run_cells("async def f(): pass\nawait f()").value)

    def test_user_modules_in_the_place_of_the_library_s_do_no_harm(self):
        folder = self.folder()
        self.write(folder, "traceback.py", "x = 1\n")
        self.make(cwd=folder)
        self.run_cells("import sys\nsys.modules.pop('traceback', None)\nimport traceback", "traceback.x")
        self.assertIn("1 / 0", self.assertError("ZeroDivisionError", "1 / 0").traceback)
        self.assertValue("1", "import traceback\ntraceback.x")


class Operations(WorkerCase):
    def ask(self, op, path, **fields):
        self.worker.send(op, id=99, path=path, **fields)
        reply = self.worker.receive()
        self.assertEqual((reply["type"], reply["id"]), ("reply", 99))
        return reply

    def code(self, op, path, **fields):
        return self.ask(op, path, **fields)["error"]["code"]

    def encoded(self, data):
        return base64.b64encode(data).decode("ascii")

    def setUp(self):
        super().setUp()
        self.place = self.folder()
        self.make(cwd=self.place)

    def test_write_makes_folders_and_replaces_whole_files(self):
        reply = self.ask("write", "a b/é.bin", data=self.encoded(bytes(range(256))))
        path = os.path.join(self.place, "a b", "é.bin")
        self.assertEqual((reply["path"], reply["replaced"]), (path, False))
        self.assertEqual(base64.b64decode(self.ask("read", "a b/é.bin", limit=256)["data"]), bytes(range(256)))
        os.chmod(path, 0o640)
        self.assertTrue(self.ask("write", path, data="")["replaced"])
        self.assertEqual((os.path.getsize(path), stat.S_IMODE(os.stat(path).st_mode)), (0, 0o640))
        self.assertEqual(os.listdir(os.path.dirname(path)), ["é.bin"])

    def test_a_link_stays_and_what_it_names_is_replaced(self):
        self.ask("write", "target", data=self.encoded(b"old"))
        os.symlink("target", os.path.join(self.place, "link"))
        self.ask("write", "link", data=self.encoded(b"new"))
        self.assertTrue(os.path.islink(os.path.join(self.place, "link")))
        self.assertEqual(base64.b64decode(self.ask("read", "target", limit=9)["data"]), b"new")

    def test_what_cannot_be_done_is_refused(self):
        os.mkfifo(os.path.join(self.place, "fifo"))
        self.ask("write", "five", data=self.encoded(b"12345"))
        self.assertEqual(self.code("read", "nope", limit=1), "FILE_NOT_FOUND")
        self.assertEqual(self.code("read", ".", limit=1), "FILE_UNREADABLE")
        self.assertEqual(self.code("read", "fifo", limit=1), "FILE_UNREADABLE")
        self.assertEqual(self.code("read", "/dev/zero", limit=1), "FILE_UNREADABLE")
        self.assertEqual(self.code("read", "five", limit=4), "TOO_LARGE")
        self.assertEqual(self.code("write", self.place, data=""), "FILE_NOT_WRITABLE")
        self.assertEqual(self.code("write", "five/below", data=""), "FILE_NOT_WRITABLE")
        self.assertEqual(self.code("write", "/proc/rpl.txt", data=""), "FILE_NOT_WRITABLE")
        self.assertEqual(self.code("list", "nope", limit=5), "FILE_NOT_FOUND")

    def test_list_is_sorted_and_bounded(self):
        for name in ("b", "a", "c"):
            self.ask("write", name, data=self.encoded(b"xy"))
        os.mkdir(os.path.join(self.place, "d"))
        entries = self.ask("list", ".", limit=10)["entries"]
        self.assertEqual([(e["name"], e["kind"]) for e in entries], [("a", "file"), ("b", "file"), ("c", "file"), ("d", "folder")])
        self.assertEqual(entries[0]["size"], 2)
        self.assertEqual(len(self.ask("list", ".", limit=2)["entries"]), 2)

    def test_answers_come_while_a_cell_runs_and_follow_its_folder(self):
        os.mkdir(os.path.join(self.place, "sub"))
        self.worker.start("import os, time\nos.chdir('sub')\nprint('there')\ntime.sleep(60)")
        self.worker.wait_for_text("there")
        self.assertEqual(self.ask("write", "x", data="")["path"], os.path.join(self.place, "sub", "x"))
        self.worker.interrupt()

    def test_a_root_bounds_all_operations(self):
        root = os.path.join(self.place, "ws")
        os.mkdir(root)
        os.symlink("/tmp", os.path.join(root, "ln"))
        self.workers.append(self.workers.pop())
        worker = self.make(cwd=root, EDGE_REPL_ROOT=root)
        self.workers.reverse()
        self.assertIs(self.worker, worker)
        for path in ("../x", "/tmp/rpl_x", "ln/x"):
            self.assertEqual(self.code("write", path, data=""), "PATH_NOT_ALLOWED")
            self.assertEqual(self.code("read", path, limit=1), "PATH_NOT_ALLOWED")
            self.assertEqual(self.code("list", path, limit=1), "PATH_NOT_ALLOWED")
        self.assertFalse(self.ask("write", "in/x", data="")["replaced"])


if __name__ == "__main__":
    unittest.main()
