import { randomBytes, randomUUID } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import type { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Context } from "./context.ts";
import type { KernelCommand } from "./kernel-process.ts";

export type SandboxSpec = {
  readonly templateId: string;
  /** Seconds. */
  readonly timeout: number;
  readonly metadata: Record<string, string>;
  readonly envVars: Record<string, string>;
  readonly allowPublicTraffic: boolean;
  readonly allowInternetAccess: boolean;
  readonly autoPause: boolean;
  readonly autoResume: boolean;
};

export type SandboxOptions = {
  readonly kernel: KernelCommand;
  readonly restartDelayMs: number;
  readonly keepaliveMs: number;
  readonly interruptOnDisconnect: boolean;
  readonly onGone: (sandbox: Sandbox) => void;
};

/** One sandbox: a folder, an access token pair, contexts with processes, and a real expiry timer. */
export class Sandbox {
  readonly id = `i${randomBytes(10).toString("hex")}`;
  readonly envdToken = `envd-${randomUUID()}`;
  readonly trafficToken: string | null;
  readonly home: string;
  readonly startedAt = Date.now();
  readonly spec: SandboxSpec;
  readonly contexts = new Map<string, Context>();
  /** Connections that end when the sandbox pauses or dies. */
  readonly sockets = new Set<Socket>();
  defaultContext = "";
  state: "running" | "paused" | "gone" = "running";
  endAt = 0;
  private timer: NodeJS.Timeout | undefined;
  private readonly options: SandboxOptions;

  constructor(spec: SandboxSpec, options: SandboxOptions) {
    this.spec = spec;
    this.options = options;
    this.trafficToken = spec.allowPublicTraffic ? null : `traffic-${randomUUID()}`;
    this.home = mkdtempSync(join(tmpdir(), "e2b-stand-in-"));
    this.setTimeout(spec.timeout);
  }

  /** Starts the default context and waits until it can run code. */
  async boot(): Promise<void> {
    this.defaultContext = (await this.addContext("python", this.home)).id;
  }

  async addContext(language: string, cwd: string): Promise<Context> {
    const { kernel, restartDelayMs, keepaliveMs } = this.options;
    const context = new Context(language, cwd, {
      kernel,
      restartDelayMs,
      keepaliveMs,
      env: this.environment(),
      readEnvs: (token) => this.readEnvs(token),
    });
    this.contexts.set(context.id, context);
    await context.start();
    return context;
  }

  get interruptOnDisconnect(): boolean {
    return this.options.interruptOnDisconnect;
  }

  /** What envd answers on GET /envs; the error object of a wrong token is taken for variables by the real server. */
  readEnvs(token: string | undefined): Record<string, unknown> {
    if (token !== this.envdToken) return { code: 401, message: "unauthorized access" };
    return { ...this.spec.envVars, E2B_SANDBOX: "true", E2B_SANDBOX_ID: this.id };
  }

  environment(): Record<string, string> {
    const env: Record<string, string> = {
      HOME: this.home,
      TMPDIR: this.home,
      E2B_SANDBOX_ID: this.id,
      LANG: "C.UTF-8",
    };
    for (const name of ["PATH", "PIP_INDEX_URL", "PIP_CONFIG_FILE", "PIP_TRUSTED_HOST", "STAND_IN_KEEP"]) {
      const value = process.env[name];
      if (value !== undefined) env[name] = value;
    }
    return env;
  }

  /** Starts the clock anew: `seconds` from now. */
  setTimeout(seconds: number): void {
    clearTimeout(this.timer);
    this.endAt = Date.now() + seconds * 1000;
    this.timer = setTimeout(() => (this.spec.autoPause ? this.pause() : this.kill()), seconds * 1000);
  }

  pause(): void {
    if (this.state !== "running") return;
    this.state = "paused";
    clearTimeout(this.timer);
    this.cutConnections();
    this.signalAll("SIGSTOP");
  }

  resume(seconds: number): void {
    if (this.state !== "paused") return;
    this.state = "running";
    this.signalAll("SIGCONT");
    this.setTimeout(seconds);
  }

  kill(): void {
    if (this.state === "gone") return;
    this.state = "gone";
    clearTimeout(this.timer);
    for (const context of this.contexts.values()) context.close();
    this.signalAll("SIGKILL");
    this.cutConnections();
    rmSync(this.home, { recursive: true, force: true, maxRetries: 3 });
    this.options.onGone(this);
  }

  private cutConnections(): void {
    for (const socket of this.sockets) socket.destroy();
    this.sockets.clear();
  }

  private signalAll(signal: NodeJS.Signals): void {
    for (const pid of this.processes()) {
      try {
        process.kill(pid, signal);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
      }
    }
  }

  /** All processes of this sandbox, found by its id in their environment. */
  processes(): number[] {
    const mark = `E2B_SANDBOX_ID=${this.id}`;
    return readdirSync("/proc")
      .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
      .filter((name) => environmentOf(name).includes(mark))
      .map(Number);
  }
}

function environmentOf(pid: string): string[] {
  try {
    return readFileSync(`/proc/${pid}/environ`, "latin1").split("\0");
  } catch {
    return []; // the process ended, or is not ours to read
  }
}
