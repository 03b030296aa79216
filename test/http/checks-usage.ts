import assert from "node:assert/strict";
import { assertText, type Check, listed } from "./check.ts";

const UTILITIES = "print('Loaded 5 utility functions.')\n";

/** Moves to an empty folder of its own and puts `utils.py` into it, without leaving a block in history. */
export const PREPARE = `
import os, pathlib, tempfile
os.chdir(tempfile.mkdtemp(prefix="black-box-"))
_ = pathlib.Path("utils.py").write_text(${JSON.stringify(UTILITIES)})
`;

const FIRST = "[1] import math\n    result = math.sqrt(144)\n    result\n12.0";
const SECOND = "[2] result + 1\n13.0";
const THIRD = "[3] exec('utils.py')\nLoaded 5 utility functions.";
const FOURTH = `[4] result
Traceback (most recent call last):
  File "<stdin>", line 1, in <module>
    result
NameError: name 'result' is not defined`;

/** The usage example of the manual, with its exact values. */
export const usageChecks: readonly Check[] = [
  {
    id: "the usage example reads as the manual shows it",
    async run({ client, freshId }) {
      const session_id = freshId();
      const created = await client.call("create_session", { session_id });
      assert.equal(created.isError, false, created.text);
      assert.equal(created.structured.session_id, session_id);
      const call = (tool: string, args = {}) => client.call(tool, { session_id, ...args });

      await call("run_code", { code: PREPARE });
      const emptied = await call("delete_history", { start: 0 });
      assert.equal(emptied.structured.remaining, 0);

      assertText(await call("run_code", { code: "import math\nresult = math.sqrt(144)\nresult" }), FIRST);
      assertText(await call("run_code", { code: "result + 1" }), SECOND);
      assertText(await call("run_file", { path: "utils.py" }), THIRD);
      assertText(await call("get_history"), [FIRST, SECOND, THIRD].join("\n\n"));
      assertText(await call("get_history", { start: -1 }), THIRD);

      const exported = await call("export_history", { path: "history.txt" });
      assert.equal(exported.structured.blocks_exported, 3);
      const saved = await call("save_script", { path: "output.py" });
      assert.equal(saved.structured.blocks_saved, 3);

      const reset = await call("reset_run_context");
      assert.equal(reset.isError, false, reset.text);
      const failed = await call("run_code", { code: "result" });
      assert.equal(failed.text, FOURTH);
      assert.equal(failed.isError, true);
      assert.equal((failed.structured.error as { name: string }).name, "NameError");

      const deleted = await call("delete_session");
      assert.equal(deleted.isError, false, deleted.text);
      assert.equal(await listed(client, session_id), undefined);
    },
  },
  {
    id: "exported files hold what was shown, and the script runs",
    async run({ session }) {
      const { run, call } = await session();
      await run(PREPARE);
      await run("print('grüße')\n6 * 7");
      const exported = await call("export_history", { path: "deep/er/history.txt", start: 1 });
      assert.equal(exported.structured.blocks_exported, 1, exported.text);
      const text = await run("print(pathlib.Path('deep/er/history.txt').read_text(encoding='utf-8'))");
      assert.match(String(text.structured.stdout), /^\[2\] print\('grüße'\)\n {4}6 \* 7\ngrüße\n42\n/);
      const saved = await call("save_script", { path: "again.py", start: 1, end: 2 });
      assert.equal(saved.structured.blocks_saved, 1, saved.text);
      const again = await run(
        "import subprocess, sys\nprint(subprocess.check_output([sys.executable, '-X', 'utf8', 'again.py'], encoding='utf-8'))",
      );
      assert.match(String(again.structured.stdout), /^grüße\n/);
    },
  },
];
