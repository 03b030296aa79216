import * as z from "zod";
import { args, defineTool, jsonReply, type Tool } from "../tool.ts";

export const installPackage = defineTool({
  name: "install_package",
  title: "Install Python packages",
  description:
    "Installs packages from the Python package index so that all your sessions can import them, without a restart; " +
    "use it after a ModuleNotFoundError. " +
    "Takes requirements such as numpy, pandas==2.0.0 or httpx[http2]>=0.27, separated by blanks; no options.",
  scope: "repl:run",
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: true },
  input: z.strictObject({
    package_name: z.string({ error: "must be text" }).describe("One or more PEP 508 requirements"),
    session_id: args.session.optional().describe("Session to install in; needed only where sessions share no packages"),
  }),
  output: {
    requirements: z.array(z.string()),
    installed: z.array(z.string()).describe("Name and version of what is new"),
    replaced: z.array(z.string()).describe("Packages that had another version before"),
    message: z.string(),
  },
  run: async ({ package_name, session_id }, { caller, service, signal, progress }) => {
    const request = { text: package_name, session: session_id, signal, onProgress: (line: string) => progress?.(line) };
    const { requirements, installed, replaced } = await service.install(caller, request);
    return jsonReply({ requirements, installed, replaced, message: summary(requirements, installed, replaced) });
  },
});

function summary(requirements: readonly string[], installed: readonly string[], replaced: readonly string[]): string {
  if (installed.length === 0) return `${requirements.join(", ")}: already installed`;
  const done = `Installed ${installed.join(", ")}; running sessions can import it at once`;
  if (replaced.length === 0) return done;
  return `${done}. Sessions that had already imported ${replaced.join(", ")} go on with the old version until reset_run_context`;
}

export const installTools: readonly Tool[] = [installPackage];
