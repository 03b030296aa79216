import type { InstallOptions, InstallReply } from "../../core/backend.ts";
import { installConfined } from "./confined-install.ts";
import { type Environment, prepareEnvironment } from "./environment.ts";
import type { PythonInfo } from "./find-python.ts";
import { createInstaller, type Installer } from "./installer.ts";
import type { Sandbox } from "./sandbox.ts";

export type PackagesOptions = {
  readonly python: PythonInfo;
  readonly env: Readonly<Record<string, string>>;
  readonly venvDir: string;
  readonly sandbox: Sandbox | undefined;
  /** Milliseconds that one installation may take. */
  readonly limitMs: number;
  readonly log: (line: string) => void;
};

/** The environments that kernels run in: one for all, or one for each owner where a sandbox keeps owners apart. */
export type Packages = {
  environment(owner: string): Promise<Environment>;
  /** @throws AppError INSTALL_FAILED, CANCELLED. */
  install(requirements: readonly string[], call: InstallOptions): Promise<InstallReply>;
  /** Stops what is being installed. */
  close(): void;
};

type Place = { readonly environment: () => Promise<Environment>; readonly installer: Installer };

/** Owners whose environments are remembered; making one known again costs a few look-ups of files. */
const MAX_OWNERS = 10_000;

export function createPackages(options: PackagesOptions): Packages {
  const places = new Map<string, Place>();
  const placeOf = (owner: string | undefined): Place => {
    const key = options.sandbox ? (owner ?? "") : "";
    let place = places.get(key);
    if (!place) {
      const [oldest] = places.keys();
      if (places.size >= MAX_OWNERS && oldest !== undefined) places.delete(oldest);
      place = options.sandbox ? ownPlace(options, options.sandbox, key) : sharedPlace(options);
      places.set(key, place);
    }
    return place;
  };
  return {
    environment: (owner) => placeOf(owner).environment(),
    install: (requirements, call) => placeOf(call.owner).installer.install(requirements, call),
    close: () => {
      for (const { installer } of places.values()) installer.close();
    },
  };
}

function sharedPlace({ python, env, venvDir, limitMs, log }: PackagesOptions): Place {
  const environment = memoize(() => prepareEnvironment(python, venvDir, env, log));
  return { environment, installer: createInstaller({ environment, env, limitMs }) };
}

/** Always a virtual environment: nobody installs into what others import from. */
function ownPlace({ python, env, limitMs, log }: PackagesOptions, sandbox: Sandbox, owner: string): Place {
  const folder = sandbox.packagesFolder(owner);
  const environment = memoize(() => prepareEnvironment({ ...python, externallyManaged: true }, folder, env, log));
  const installer = createInstaller({
    environment,
    env,
    limitMs,
    perform: (made, requirements, call) => installConfined(sandbox, owner, made, requirements, call, limitMs),
  });
  return { environment, installer };
}

function memoize<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => (made ??= make());
}
