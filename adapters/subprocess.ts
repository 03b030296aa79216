/** Loaded only when the local backend is chosen, so that platforms without processes never see it. */
export { createSubprocessBackend } from "../src/backends/subprocess/backend.ts";
export { findPython } from "../src/backends/subprocess/find-python.ts";
