/** Starts a kernel, runs a cell, tells the kernel's process id and ends without closing anything. */
import { rmSync } from "node:fs";
import { makeTestBackend, run, startKernel } from "./subprocess-setup.ts";

const { backend, folder } = await makeTestBackend();
process.on("exit", () => rmSync(folder, { recursive: true }));
const kernel = await startKernel(backend);
await run(kernel, "1 + 1");
console.log(kernel.ref.pid);
