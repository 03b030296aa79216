import { type BackendCheck, like, lines, type Step } from "./backend-steps.ts";

const freshFolder = (): Step => ({ run: "import os, shutil, tempfile; folder = tempfile.mkdtemp(); os.chdir(folder)" });
const cleanUp = (): Step => ({ run: "os.chdir('/'); shutil.rmtree(folder)", files: {} });
/** Longer than a tick of the clock that stamps files: what was there before then has an older time. */
const aMomentLater = (): Step => ({ run: "import time; time.sleep(0.03)", files: {} });

/** Which files a cell is said to have made or changed in its working folder. */
export const CHANGE_CHECKS: readonly BackendCheck[] = [
  {
    id: "changed-files-created",
    steps: [
      freshFolder(),
      { run: "open('a.txt', 'w').write('12345')", value: "5", files: { "a.txt": 5 } },
      { run: "1 + 1", value: "2", files: {} },
      { run: "open('a.txt').read()", value: "'12345'", files: {} },
      { run: "os.mkdir('sub'); open('sub/b', 'w').close()", files: { "sub/b": 0 } },
      { run: "open('c', 'w').close(); os.remove('c')", files: {} },
      cleanUp(),
    ],
  },
  {
    id: "changed-files-in-place",
    steps: [
      freshFolder(),
      { run: "for name in 'log', 'same', 'still': open(name, 'w').write('old')" },
      aMomentLater(),
      { run: "open('log', 'a').write('+'); None", files: { log: 4 } },
      { run: "with open('same', 'r+') as file: file.write('new')", files: { same: 3 } },
      cleanUp(),
    ],
  },
  {
    id: "changed-files-with-old-times",
    steps: [
      freshFolder(),
      { run: "open('draft', 'w').write('x'); os.utime('draft', (1e9, 1e9))" },
      aMomentLater(),
      { run: "os.rename('draft', 'final')", files: { final: 1 } },
      { run: "shutil.copy2('final', 'copy'); None", files: { copy: 1 } },
      { run: "shutil.make_archive('all', 'tar', '.', 'copy'); None", files: { "all.tar": 10240 } },
      { run: "shutil.unpack_archive('all.tar', 'out')", files: { "out/copy": 1 } },
      cleanUp(),
    ],
  },
  {
    id: "changed-files-by-a-child",
    steps: [freshFolder(), { run: "os.system('echo one > kid.txt'); None", files: { "kid.txt": 4 } }, cleanUp()],
  },
  {
    id: "changed-files-after-chdir",
    steps: [
      freshFolder(),
      {
        run: "open('here', 'w').close(); os.mkdir('sub'); os.chdir('sub'); open('there', 'w').close()",
        files: { here: 0, "sub/there": 0 },
      },
      { run: "open('there', 'a').write('x'); None", files: { there: 1 } },
      { run: "open('../here', 'a').write('x'); None", files: {} },
      cleanUp(),
    ],
  },
  {
    id: "changed-files-of-a-failure",
    steps: [
      freshFolder(),
      {
        run: "open('a', 'w').close()\n1 / 0",
        error: {
          name: "ZeroDivisionError",
          message: "division by zero",
          traceback: like(/ZeroDivisionError: division by zero$/, "ZeroDivisionError: division by zero"),
        },
        files: { a: 0 },
      },
      cleanUp(),
    ],
  },
  {
    id: "changed-files-of-a-stopped-cell",
    needs: ["interrupt"],
    steps: [
      freshFolder(),
      {
        run: "import time; open('a', 'w').close(); print('on'); time.sleep(60)",
        stop: { at: "output", text: "on", by: "signal" },
        stdout: "on\n",
        aborted: "kept",
        files: { a: 0 },
      },
      cleanUp(),
    ],
  },
  {
    id: "changed-files-of-a-file",
    needs: ["files"],
    steps: [
      freshFolder(),
      { write: "make.py", data: "open('made', 'w').write('xy')\n", replaced: false },
      // Some backends may take the write of a moment ago for one of this cell.
      { run: "import time; time.sleep(0.03)" },
      { run: "exec('make.py')", path: "make.py", files: { made: 2 } },
      cleanUp(),
    ],
  },
  {
    id: "changed-files-that-matter-to-nobody",
    steps: [
      freshFolder(),
      {
        run: lines(
          "for path in '.hidden', '.cache/x', '__pycache__/m.pyc', 'node_modules/m.js', 'env/pyvenv.cfg', 'env/bin/x':",
          "    os.makedirs(os.path.dirname(path) or '.', exist_ok=True); open(path, 'w').close()",
          "os.symlink('/etc/hostname', 'link'); os.symlink('/etc', 'folder'); os.mkfifo('fifo')",
          "open('seen', 'w').close()",
        ),
        files: { seen: 0 },
      },
      cleanUp(),
    ],
  },
  {
    id: "changed-files-with-odd-names",
    steps: [
      freshFolder(),
      {
        run: "for name in 'a\\nb', 'c\\x1b', 'd' * 255, 'é 漢字 🐍', 'caf\\udce9': open(name, 'w').close()",
        files: { "a\nb": 0, "c\u001b": 0, "caf\udce9": 0, ["d".repeat(255)]: 0, "é 漢字 🐍": 0 },
      },
      cleanUp(),
    ],
  },
  {
    id: "changed-files-in-plenty",
    steps: [
      freshFolder(),
      {
        run: "for n in range(100): open(f'f{n:02}', 'w').close()",
        files: Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`f${String(n).padStart(2, "0")}`, 0])),
        moreFiles: 80,
      },
      { run: "for n in range(10_000): open(f'f{n:05}', 'w').close()" },
      aMomentLater(),
      { run: "1 + 1", value: "2", files: {}, withinMs: 1000 },
      cleanUp(),
    ],
  },
];
