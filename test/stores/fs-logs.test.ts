import assert from "node:assert/strict";
import {
  appendFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { createFsDriver } from "../../adapters/drivers/fs-atomic.ts";

const folder = mkdtempSync(join(tmpdir(), "fs-logs-"));
after(() => rmSync(folder, { recursive: true, force: true }));
let count = 0;

/** The values `b:0` and so on of a new folder, as one server sees them; `other` is one more server's view. */
function newLog() {
  count += 1;
  const root = join(folder, `root ${count}`);
  const path = join(root, "data", "b", "0.log");
  const open = () => {
    const driver = createFsDriver(root);
    return {
      read: (number: number) => driver.getItem(`b:${number}`),
      has: (number: number) => driver.hasItem(`b:${number}`, {}),
      write: (number: number, text: string) => driver.setItem?.(`b:${number}`, text, {}),
      remove: (number: number) => driver.removeItem?.(`b:${number}`, {}),
      keys: () => driver.getKeys("b", {}),
      clear: () => driver.clear?.("b", {}),
    };
  };
  return { root, path, ...open(), open, text: () => readFileSync(path, "utf8"), size: () => statSync(path).size };
}

const record = (slot: string, text: string): string =>
  `+${slot} ${String(Buffer.byteLength(text)).padStart(12, "0")}\n${text}\n`;

test("a log holds values as lines that a person can read", () => {
  const log = newLog();
  log.write(12, '{"a":1}');
  log.write(3, '"text"');
  log.remove(12);
  const [head = "", ...lines] = log.text().split("\n");
  assert.match(head, /^log1 [0-9a-f-]{36}$/);
  assert.deepEqual(lines, ["-012 000000000007", "       ", "+003 000000000010", String.raw`"\"text\""`, ""]);
  assert.equal(log.read(3), '"text"');
});

test("what was written is read, listed and cleared", () => {
  const log = newLog();
  assert.deepEqual([log.read(0), log.has(0), log.keys()], [null, false, []]);
  for (const number of [5, 0, 999, 1_000, 7]) log.write(number, `{"n":${number}}`);
  for (const one of [log, log.open()]) {
    for (const number of [5, 0, 999, 1_000, 7]) assert.equal(one.read(number), `{"n":${number}}`);
    assert.deepEqual([one.has(5), one.has(6), one.read(6), one.read(1_005)], [true, false, null, null]);
    assert.deepEqual([...(one.keys() as string[])].sort(), ["b:0", "b:1000", "b:5", "b:7", "b:999"]);
  }
  log.clear();
  assert.deepEqual([log.keys(), log.read(5), readdirSync(join(log.root, "data"))], [[], null, []]);
});

test("a value of any text survives", () => {
  const log = newLog();
  const fake = record("005", '{"fake":1}');
  const texts = [
    "",
    "\n",
    "\r\n",
    "a\nb\n",
    " ",
    '"',
    '"a"',
    '"a',
    "+",
    "-",
    `\n${fake}`,
    fake,
    "é\0\u2028\ud83d\ude00",
  ];
  texts.push(
    fake.trimEnd(),
    "+001 000000000000",
    "log1 x",
    "x".repeat(65_535),
    "é".repeat(70_000),
    `${fake.repeat(9_000)}`,
  );
  for (const [number, text] of texts.entries()) log.write(number, text);
  for (const one of [log, log.open()]) {
    for (const [number, text] of texts.entries()) assert.equal(one.read(number), text);
    assert.equal((one.keys() as string[]).length, texts.length);
  }
});

test("values of five megabytes lie between small ones", () => {
  const log = newLog();
  const large = (digit: number): string => JSON.stringify({ text: String(digit).repeat(5_000_000) });
  for (const number of [0, 1, 2, 3]) log.write(number, number % 2 === 0 ? large(number) : `${number}`);
  log.write(2, large(7));
  for (const one of [log, log.open()]) {
    assert.equal(one.read(0), large(0));
    assert.equal(one.read(1), "1");
    assert.equal(one.read(2), large(7));
    assert.equal(one.read(3), "3");
  }
});

test("what was replaced or removed is gone from the disk", () => {
  const log = newLog();
  log.write(1, '{"secret":"alpha"}');
  log.write(2, '{"kept":"beta"}');
  log.write(1, '{"new":"gamma"}');
  assert.doesNotMatch(log.text(), /alpha/);
  log.remove(1);
  assert.doesNotMatch(log.text(), /gamma/);
  assert.deepEqual([log.read(1), log.read(2)], [null, '{"kept":"beta"}']);
  log.remove(1);
  log.remove(2);
  assert.deepEqual(readdirSync(join(log.root, "data")), [], "with its last value the log is gone, and its folder");
  log.write(1, "again");
  assert.equal(log.read(1), "again");
});

test("a write that was cut off at any byte left no value, and the next one goes over it", () => {
  const log = newLog();
  log.write(1, '{"one":"é"}');
  const before = log.size();
  log.write(2, '{"two":2,"text":"xyz"}');
  const whole = readFileSync(log.path);
  for (let cut = 0; cut < whole.length; cut += 1) {
    writeFileSync(log.path, whole);
    const survivor = log.open();
    assert.equal(survivor.read(2), '{"two":2,"text":"xyz"}');
    truncateSync(log.path, cut);
    const expected = cut < before ? null : '{"one":"é"}';
    for (const one of [survivor, log.open()]) {
      assert.deepEqual([one.read(1), one.read(2)], [expected, null], `cut after ${cut} bytes`);
    }
    (cut % 2 === 0 ? survivor : log.open()).write(3, "3");
    for (const one of [survivor, log.open()]) {
      assert.deepEqual([one.read(1), one.read(2), one.read(3)], [expected, null, "3"], `cut after ${cut} bytes`);
    }
    assert.doesNotMatch(log.text(), /two|xyz/, "what was cut off is gone");
  }
});

test("a removal that was cut off at any byte is one, or none", () => {
  const log = newLog();
  log.write(1, '{"one":1}');
  log.write(2, '{"two":2}');
  const before = readFileSync(log.path);
  log.remove(1);
  const whole = readFileSync(log.path);
  for (let cut = 0; cut <= whole.length; cut += 1) {
    writeFileSync(log.path, before);
    const survivor = log.open();
    assert.equal(survivor.read(1), '{"one":1}');
    writeFileSync(log.path, Buffer.concat([whole.subarray(0, cut), before.subarray(cut)]));
    const expected = cut <= before.indexOf("+001") ? '{"one":1}' : null;
    for (const one of [survivor, log.open()]) assert.deepEqual([one.read(1), one.read(2)], [expected, '{"two":2}']);
  }
});

test("of two values of one number the later holds, and the earlier is wiped by the next writer", () => {
  for (const next of ["write", "replace", "remove"]) {
    const log = newLog();
    log.write(1, '{"first":1}');
    log.write(2, "2");
    const killed = log.open();
    assert.equal(killed.read(1), '{"first":1}');
    appendFileSync(log.path, record("001", '{"second":2}')); // What a writer does before it wipes the first.
    for (const one of [log, killed, log.open()]) assert.equal(one.read(1), '{"second":2}');
    if (next === "write") killed.write(3, "3");
    else if (next === "replace") killed.write(1, '{"third":3}');
    else killed.remove(1);
    assert.doesNotMatch(log.text(), /first/);
    const expected = { write: '{"second":2}', replace: '{"third":3}', remove: null }[next];
    for (const one of [log, killed, log.open()]) assert.equal(one.read(1), expected);
  }
});

const EDITS: Readonly<Record<string, (text: string) => string>> = {
  "a text that became shorter": (text) => text.replace('"n":5', '"n"'),
  "a text that became longer": (text) => text.replace('"n":5', '"n":5555555'),
  "a text with a line more": (text) => text.replace('"n":5', '\n"n":5\n'),
  "a text shorter by a whole record": (text) => text.replace(/\{"n":5,"[x]*/, "{"),
  "a text that is not there": (text) => text.replace(/\{"n":5.*\n/, ""),
  "a header of another length": (text) => text.replace(/\+005 \d+/, "+005 000000000003"),
  "a header of a length beyond the end": (text) => text.replace(/\+005 \d+/, "+005 999999999999"),
  "a header that makes no sense": (text) => text.replace(/\+005/, "five"),
  "a record that was cut out": (text) => text.replace(/\+005.*\n.*\n/, ""),
  "lines that belong to nothing": (text) => text.replace(/\+005.*\n.*\n/, "\n\nnotes\n+\n+005\n-\n"),
  "line ends of another system": (text) => text.replace(/(\+005.*)\n(.*)\n/, "$1\r\n$2\r\n"),
  "half a file of zeros": (text) => text.replace(/\+005.*\n.*\n/, "\0".repeat(100_000)),
};

for (const [name, edit] of Object.entries(EDITS)) {
  test(`${name} costs that value alone`, () => {
    for (const padding of [0, 100, 70_000]) {
      const log = newLog();
      const text = (number: number): string => `{"n":${number},"${"x".repeat(padding)}":0}`;
      for (let number = 0; number < 10; number += 1) log.write(number, text(number));
      const before = log.open();
      assert.equal(before.read(9), text(9));
      const edited = edit(log.text());
      assert.notEqual(edited, log.text());
      writeFileSync(log.path, edited);
      const zeros = name.includes("zeros") ? 6 : 5; // They have no line end: the next header is behind them.
      for (const one of [before, log.open()]) {
        for (const number of [0, 4, 7, 9]) assert.equal(one.read(number), text(number), `value ${number}`);
        assert.notEqual(one.read(5), text(5));
        if (zeros === 5) assert.equal(one.read(6), text(6));
        one.write(5, "mended");
        assert.deepEqual([one.read(5), one.read(9)], ["mended", text(9)]);
      }
    }
  });
}

test("a server notices that a log was edited in its place, also when it became longer", () => {
  const log = newLog();
  for (const number of [1, 2]) log.write(number, `${number}`);
  const edited = log.text().replace(/(?=\+001)/, record("003", "put in by hand, before what was there"));
  writeFileSync(log.path, edited);
  assert.deepEqual([log.read(3), log.read(1), log.read(2)], ["put in by hand, before what was there", "1", "2"]);
});

test("a server notices that a log was edited in its place, also before what a killed writer left", () => {
  const log = newLog();
  for (const number of [1, 2]) log.write(number, `${number}`);
  writeFileSync(log.path, `${log.text()}+003 000000000009\ncut`);
  assert.deepEqual([log.read(1), log.read(2), log.read(3)], ["1", "2", null]);
  writeFileSync(
    log.path,
    log.text().replace("+001 000000000001\n1\n", "-001 000000000001\n \n").replace("+002", "+001"),
  );
  assert.deepEqual([log.read(1), log.read(2), log.read(3)], ["2", null, null]);
});

test("a head that was edited costs nothing", () => {
  const log = newLog();
  for (const number of [1, 2]) log.write(number, `${number}`);
  for (const head of ["", "notes\n", "\n\n"]) {
    writeFileSync(log.path, log.text().replace(/^.*?(?=\+001)/s, head));
    for (const one of [log, log.open()]) assert.deepEqual([one.read(1), one.read(2)], ["1", "2"]);
  }
});

test("a text that is no JSON any more is given as it is", () => {
  const log = newLog();
  log.write(1, '{"a":1}');
  log.write(2, '"a"');
  writeFileSync(log.path, log.text().replace('{"a":1}', '{"a":1!').replace(String.raw`"\"a\""`, String.raw`"\"a\"!`));
  assert.deepEqual([log.read(1), log.read(2)], ['{"a":1!', String.raw`"\"a\"!`]);
});

test("servers see what the others append, replace and remove", () => {
  const one = newLog();
  const other = one.open();
  for (let number = 0; number < 50; number += 1) {
    const [writer, reader] = number % 2 === 0 ? [one, other] : [other, one];
    writer.write(number, `${number}`);
    assert.equal(reader.read(number), `${number}`);
    reader.write(number, "replaced");
    assert.equal(writer.read(number), "replaced");
    if (number % 3 === 0) writer.remove(number);
    assert.equal(reader.read(number), number % 3 === 0 ? null : "replaced");
    assert.deepEqual(reader.keys(), writer.keys());
  }
  one.clear();
  assert.deepEqual([one.keys(), other.keys(), other.read(1)], [[], [], null]);
});

test("a log that was removed and made anew is read anew", () => {
  const one = newLog();
  const other = one.open();
  for (let round = 0; round < 20; round += 1) {
    // Of the same length at least, so that only what the file is tells the difference.
    for (const number of [1, 2]) one.write(number, `${round}`);
    assert.deepEqual([other.read(1), other.read(2), other.read(3)], [`${round}`, `${round}`, null]);
    one.clear();
    for (const number of [3, 4]) one.write(number, `${round}`);
    one.write(5, "longer than the log before");
    assert.deepEqual([other.read(1), other.read(3)], [null, `${round}`]);
    other.clear();
  }
});

test("each of two servers removes half, and the file is gone", () => {
  const one = newLog();
  const other = one.open();
  for (let number = 0; number < 10; number += 1) one.write(number, `${number}`);
  for (let number = 0; number < 5; number += 1) other.remove(number);
  for (let number = 9; number >= 0; number -= 1) one.remove(number); // As the removal of a session does.
  assert.ok(!existsSync(one.path));
});

test("a log of which most was removed is written anew, and other servers go on with it", () => {
  const log = newLog();
  const other = log.open();
  const text = (number: number): string => JSON.stringify({ number, text: "x".repeat(100_000) });
  for (let number = 0; number < 30; number += 1) log.write(number, text(number));
  assert.equal(other.read(29), text(29));
  for (let number = 0; number < 25; number += 1) log.remove(number);
  assert.ok(log.size() < 1_700_000, `${log.size()} bytes for 500,000`);
  assert.equal(statSync(log.path).mode & 0o777, 0o600);
  for (const one of [log, other, log.open()]) {
    for (let number = 0; number < 30; number += 1) assert.equal(one.read(number), number < 25 ? null : text(number));
  }
  for (let round = 0; round < 40; round += 1) (round % 2 === 0 ? log : other).write(25, text(round));
  assert.ok(log.size() < 1_700_000);
  for (const one of [log, other, log.open()]) assert.deepEqual([one.read(25), one.read(29)], [text(39), text(29)]);
  assert.deepEqual(readdirSync(join(log.root, "tmp")), []);
});

test("a log that cannot be written anew stays, and loses nothing", () => {
  const log = newLog();
  rmSync(join(log.root, "tmp"), { recursive: true });
  writeFileSync(join(log.root, "tmp"), "in the way");
  for (let round = 0; round < 30; round += 1) log.write(1, `${round}${"x".repeat(100_000)}`);
  assert.equal(log.read(1), `29${"x".repeat(100_000)}`);
  assert.ok(log.size() > 2_000_000);
});

test("more logs than are kept in mind are read all the same", () => {
  const log = newLog();
  for (const round of [1, 2]) for (let n = 0; n < 300; n += 1) log.write(n * 1_000, `${round} ${n}`);
  for (let n = 0; n < 300; n += 1) assert.equal(log.read(n * 1_000), `2 ${n}`);
});

test("a log that was cut under the server is read anew", () => {
  const log = newLog();
  log.write(1, "1");
  const size = log.size();
  log.write(2, "2");
  assert.equal(log.read(2), "2");
  truncateSync(log.path, size);
  assert.deepEqual([log.read(1), log.read(2)], ["1", null]);
});

test("a log whose place is taken by a folder is told", () => {
  const log = newLog();
  log.write(1_000, "1");
  rmSync(join(log.root, "data", "b", "1.log"));
  createFsDriver(log.root);
  rmSync(log.path, { force: true, recursive: true });
  assert.throws(() => {
    writeFileSync(join(log.root, "data", "b"), "in the way");
    log.write(1, "1");
  });
});
