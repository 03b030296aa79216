// A server of its own, as far as files are concerned: writes numbered values to the folder, without any further lock.
// Arguments: the folder, what to do, numbers for it. Says what was acknowledged.
import { writeSync } from "node:fs";
import process from "node:process";
import { createFsDriver } from "../../adapters/drivers/fs-atomic.ts";

const [folder = "", task = "", ...numbers] = process.argv.slice(2);
const [first = 0, step = 1, bytes = 0] = numbers.map(Number);
const driver = createFsDriver(folder);
const textOf = (number: number, round: number): string =>
  JSON.stringify({ number, round, text: String(round % 10).repeat(bytes) });

if (task === "append") {
  for (let number = first; ; number += step) {
    driver.setItem?.(`b:${number}`, textOf(number, number), {});
    writeSync(1, `${number}\n`);
  }
}
// Each round of values replaces the one before, and one of them comes and goes.
if (task === "replace") {
  for (let round = 0; ; round += 1) {
    for (let number = first; number < first + 5; number += 1)
      driver.setItem?.(`b:${number}`, textOf(number, round), {});
    driver.setItem?.(`b:${first + 5}`, textOf(first + 5, round), {});
    driver.removeItem?.(`b:${first + 5}`, {});
    writeSync(1, `${round}\n`);
  }
}
// The folder empties and fills again, so that the log comes and goes.
if (task === "flicker") {
  for (let round = 0; ; round += 1) {
    driver.setItem?.(`b:${first}`, textOf(first, round), {});
    driver.removeItem?.(`b:${first}`, {});
    writeSync(1, `${round}\n`);
  }
}
// Until the disk is full.
if (task === "fill") {
  for (let number = first; ; number += 1) {
    try {
      driver.setItem?.(`b:${number}`, textOf(number, number), {});
    } catch (error) {
      writeSync(1, `full ${error instanceof Error ? error.message : ""}\n`);
      break;
    }
    writeSync(1, `${number}\n`);
  }
}
