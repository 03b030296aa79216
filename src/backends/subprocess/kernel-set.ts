import { AppError } from "../../core/errors.ts";
import type { SubprocessKernel } from "./kernel.ts";

/** The kernels that a backend has started and that still run, or are being started. */
export type KernelSet<Place> = {
  /** @throws AppError BACKEND_UNAVAILABLE, also when the set is closed meanwhile. */
  start(place: Place): Promise<SubprocessKernel>;
  /** Ends all of them at the same time; idempotent. */
  close(): Promise<void>;
};

export function createKernelSet<Place>(start: (place: Place) => Promise<SubprocessKernel>): KernelSet<Place> {
  const kernels = new Set<SubprocessKernel>();
  const starting = new Set<Promise<SubprocessKernel>>();
  let closing: Promise<void> | undefined;

  const closeAll = async (): Promise<void> => {
    await Promise.allSettled(starting);
    await Promise.all([...kernels].map((kernel) => kernel.shutdown()));
  };
  return {
    async start(place) {
      if (closing) throw closed();
      const started = start(place);
      starting.add(started);
      try {
        const kernel = await started;
        kernels.add(kernel);
        void kernel.ended.then(() => kernels.delete(kernel));
        if (closing) throw closed();
        return kernel;
      } finally {
        starting.delete(started);
      }
    },
    close: () => (closing ??= closeAll()),
  };
}

function closed(): AppError {
  return new AppError("BACKEND_UNAVAILABLE", "The server is shutting down; start it again");
}
