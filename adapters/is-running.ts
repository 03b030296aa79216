import process from "node:process";

/** Is there a process of this number? Also true where that cannot be known. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // Else it is another user's process, or there is no permission to ask.
    return !(error instanceof Error && "code" in error && error.code === "ESRCH");
  }
}
