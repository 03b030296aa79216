/** Starts a kernel, runs a cell, tells the kernel's process id and ends without closing anything. */
import { makeTestBackend, run, startKernel } from "./subprocess-setup.ts";

const { backend } = await makeTestBackend();
const kernel = await startKernel(backend);
await run(kernel, "1 + 1");
console.log(kernel.ref.pid);
