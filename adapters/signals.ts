/** Whatever else happens, the process is gone this long after it was told to end. */
const LIMIT_MS = 5000;

/** Runs `end` once, at SIGTERM, SIGINT or SIGHUP or when the returned function is called, then exits. */
export function onSignals(end: () => Promise<void>): () => void {
  let ending = false;
  const stop = (): void => {
    if (ending) return;
    ending = true;
    setTimeout(() => process.exit(1), LIMIT_MS).unref();
    end().then(
      () => process.exit(0),
      (error: unknown) => {
        process.stderr.write(`edge-python-repl: could not end cleanly: ${String(error)}\n`);
        process.exit(1);
      },
    );
  };
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.on(signal, stop);
  return stop;
}
