/** A reporter that writes the files with failing tests, one a line, for `test/run.mjs` to run again alone. */
export default async function* failedFiles(source) {
  const files = new Set();
  for await (const { type, data } of source) {
    if (type === "test:fail" && data.file && !data.todo && !data.skip) files.add(data.file);
  }
  for (const file of files) yield `${file}\n`;
}
