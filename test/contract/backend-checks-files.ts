import { type BackendCheck, like, lines, type Step } from "./backend-steps.ts";

const freshFolder = (): Step => ({ run: "import os, shutil, tempfile; folder = tempfile.mkdtemp(); os.chdir(folder)" });
const cleanUp = (): Step => ({ run: "os.chdir('/'); shutil.rmtree(folder)" });

const BYTES = Uint8Array.from({ length: 256 }, (_, n) => n);

/** The session's file system, seen from outside and from code. */
export const FILE_CHECKS: readonly BackendCheck[] = [
  {
    id: "files-written-and-read",
    needs: ["files"],
    steps: [
      freshFolder(),
      { write: "sub/dír one/é.bin", data: BYTES, replaced: false },
      { run: "open('sub/dír one/é.bin', 'rb').read() == bytes(range(256))", value: "True" },
      { read: "sub/dír one/é.bin", data: BYTES },
      { write: "sub/dír one/é.bin", data: "", replaced: true },
      { read: "sub/dír one/é.bin", data: "" },
      { run: "open('made.txt', 'w').write('made by code')", value: "12" },
      { read: "made.txt", data: "made by code" },
      { run: "sorted(os.listdir('.')), os.listdir('sub/dír one')", value: "(['made.txt', 'sub'], ['é.bin'])" },
      cleanUp(),
    ],
  },
  {
    id: "paths-follow-the-current-folder",
    needs: ["files"],
    steps: [
      freshFolder(),
      { run: "os.mkdir('inner'); os.chdir('inner'); open('x', 'w').write('in'); None" },
      { read: "x", data: "in" },
      { read: "../inner/x", data: "in" },
      { write: "y", data: "beside", replaced: false },
      { run: "os.path.exists(os.path.join(folder, 'inner', 'y'))", value: "True" },
      cleanUp(),
    ],
  },
  {
    id: "reading-what-is-no-file",
    needs: ["files"],
    steps: [
      freshFolder(),
      { read: "missing", refused: "FILE_NOT_FOUND" },
      { read: ".", refused: "FILE_UNREADABLE" },
      { run: "open('big', 'w').write('x' * 2000); None" },
      { read: "big", limit: 1999, refused: "TOO_LARGE" },
      { read: "big", limit: 2000, data: "x".repeat(2000) },
      cleanUp(),
    ],
  },
  {
    id: "writing-where-it-cannot-be",
    needs: ["files"],
    steps: [
      freshFolder(),
      { run: "os.mkdir('folder'); open('file', 'w').write('precious'); None" },
      { write: "folder", data: "x", refused: "FILE_NOT_WRITABLE" },
      { write: "file/below", data: "x", refused: "FILE_NOT_WRITABLE" },
      { write: "/proc/nothing", data: "x", refused: "FILE_NOT_WRITABLE" },
      { read: "file", data: "precious" },
      { run: "sorted(os.listdir('.'))", value: "['file', 'folder']" },
      cleanUp(),
    ],
  },
  {
    id: "folders-are-listed",
    needs: ["files"],
    steps: [
      freshFolder(),
      { list: ".", entries: [] },
      { run: "os.mkdir('b'); open('c', 'w').write('123'); open('a', 'w').close(); os.symlink('missing', 'd'); None" },
      {
        list: ".",
        entries: [
          { name: "a", kind: "file", size: 0 },
          { name: "b", kind: "folder", size: 0 },
          { name: "c", kind: "file", size: 3 },
          { name: "d", kind: "other", size: 0 },
        ],
      },
      { list: ".", limit: 1, entries: [{ name: "a", kind: "file", size: 0 }] },
      { list: "b", entries: [] },
      { list: "missing", refused: "FILE_NOT_FOUND" },
      cleanUp(),
    ],
  },
  {
    id: "file-runs-in-the-namespace",
    needs: ["files"],
    steps: [
      freshFolder(),
      { write: "dír/helper_q.py", data: "V = 50 + 5\n" },
      {
        write: "dír/main é.py",
        data: "\ufeffimport helper_q, os, sys\r\nprint(os.path.basename(__file__), helper_q.V, os.path.basename(sys.argv[0]), __name__)\r\nfrom_file = 7\r\n",
      },
      { run: "exec('main é.py')", path: "dír/main é.py", stdout: "main é.py 55 main é.py __main__\n" },
      { run: "from_file, helper_q.V", value: "(7, 55)" },
      {
        write: "cookie.py",
        data: Uint8Array.from([
          ...new TextEncoder().encode("# -*- coding: latin-1 -*-\nprint('"),
          0xe9,
          ...new TextEncoder().encode("')\n"),
        ]),
      },
      { run: "exec('cookie.py')", path: "cookie.py", stdout: "é\n" },
      { write: "empty.py", data: "" },
      { run: "exec('empty.py')", path: "empty.py" },
      cleanUp(),
    ],
  },
  {
    id: "traceback-names-the-file",
    needs: ["files"],
    steps: [
      freshFolder(),
      { write: "fail.py", data: "def go():\n    return {}['qz']\ngo()\n" },
      {
        run: "exec('fail.py')",
        path: "fail.py",
        error: {
          name: "KeyError",
          message: "'qz'",
          traceback: like(
            /^Traceback \(most recent call last\):\n {2}File "[^"\n]*fail\.py", line 3, in <module>\n {4}go\(\)\n(?: +[~^]+\n)? {2}File "[^"\n]*fail\.py", line 2, in go\n {4}return \{\}\['qz'\]\n(?: +[~^]+\n)?KeyError: 'qz'$/,
            lines(
              "Traceback (most recent call last):",
              '  File "fail.py", line 3, in <module>',
              "    go()",
              '  File "fail.py", line 2, in go',
              "    return {}['qz']",
              "KeyError: 'qz'",
            ),
          ),
        },
      },
      cleanUp(),
    ],
  },
  {
    id: "files-that-cannot-run",
    needs: ["files"],
    steps: [
      freshFolder(),
      { run: "exec('missing.py')", path: "missing.py", refused: "FILE_NOT_FOUND" },
      { run: "exec('.')", path: ".", refused: "FILE_UNREADABLE" },
      { write: "binary.py", data: Uint8Array.of(0, 1, 2, 3, 255, 254) },
      { run: "exec('binary.py')", path: "binary.py", refused: "FILE_UNREADABLE" },
      { run: "1 + 1", value: "2" },
      cleanUp(),
    ],
  },
];
