import type { Config } from "../../src/config.ts";
import { CHECKS, type Finding } from "./doctor-checks.ts";
import { type DoctorProbes, machineProbes } from "./doctor-probes.ts";
import { CliError, type CliIo, processIo, reportCliError } from "./setup-io.ts";

const HELP = `Usage: edge-python-repl doctor [--json]

Checks what the server needs, with the settings of the environment: the runtime, Python and its installer, where
history is kept, the port, who may connect, and E2B when its key is set. Exit code 0, or 1 when something must change.

  --json   one JSON object: { "ok": …, "checks": [{ "id", "status", "message", "fix" }] }
`;

type Row = Finding & { readonly id: string };

function readSettings(io: CliIo, probes: DoctorProbes): { config: Config; row: Row } {
  try {
    return {
      config: probes.readSettings(io.env),
      row: { id: "settings", status: "ok", message: "All settings are sound" },
    };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const fix = "Correct it; the checks below are of the defaults";
    return { config: probes.readSettings({}), row: { id: "settings", status: "fail", message, fix } };
  }
}

async function examine(io: CliIo, probes: DoctorProbes): Promise<readonly Row[]> {
  const { config, row } = readSettings(io, probes);
  const input = { env: io.env, config, probes };
  const rows = await Promise.all(
    CHECKS.map(async ({ id, run }) => (await run(input)).map((finding): Row => ({ id, ...finding }))),
  );
  return [row, ...rows.flat()];
}

function show(rows: readonly Row[]): string {
  const lines = rows.flatMap(({ id, status, message, fix }) => {
    const head = `${(status === "fail" ? "FAIL" : status).padEnd(6)}${id.padEnd(10)}`;
    return fix === undefined ? [head + message] : [head + message, `${" ".repeat(head.length)}→ ${fix}`];
  });
  const failed = rows.filter(({ status }) => status === "fail").length;
  const last = failed === 0 ? "Ready" : `${failed} to correct before the server can work`;
  return `${[...lines, last].join("\n")}\n`;
}

async function run(args: readonly string[], io: CliIo, probes: DoctorProbes): Promise<number> {
  if (args.includes("--help") || args.includes("-h")) {
    io.stdout.write(HELP);
    return 0;
  }
  const unknown = args.find((arg) => arg !== "--json");
  if (unknown !== undefined) throw new CliError(`Unknown option ${unknown}; see doctor --help`, 2);
  const checks = await examine(io, probes);
  const ok = checks.every(({ status }) => status !== "fail");
  io.stdout.write(args.includes("--json") ? `${JSON.stringify({ ok, checks }, null, 2)}\n` : show(checks));
  return ok ? 0 : 1;
}

/**
 * `edge-python-repl doctor`: checks what the server needs and says what to do.
 * @returns 0 ready; 1 something must change; 2 called wrongly.
 */
export async function doctorCommand(
  args: readonly string[],
  io: CliIo = processIo(),
  probes: DoctorProbes = machineProbes(),
): Promise<number> {
  try {
    return await run(args, io, probes);
  } catch (error) {
    return reportCliError(error, io);
  }
}
