import { readdirSync } from "node:fs";
import { isAbsolute, resolve } from "node:path";
import { CLIENTS, findClient } from "./clients/list.ts";
import { type ListFolder, projectFile, userFile } from "./clients/paths.ts";
import type { Client, ClientFile } from "./clients/types.ts";
import { parseSetupArgs, SETUP_HELP, type SetupArgs } from "./setup-args.ts";
import { diffLines } from "./setup-diff.ts";
import { type Entry, endpointUrl, entryFor, ownCommand, type Target } from "./setup-entry.ts";
import { readConfigFile, writeConfigFile } from "./setup-file.ts";
import { askYes, CliError, type CliIo, processIo, reportCliError } from "./setup-io.ts";
import { planFile, printEntry } from "./setup-plan.ts";
import { ConfigShapeError, ConfigSyntaxError } from "./setup-text.ts";

const listFolder: ListFolder = (folder) => {
  try {
    return readdirSync(folder);
  } catch {
    return []; // Not there or not ours to read: then no client keeps its file in it either.
  }
};

function clientNamed(name: string): Client {
  const client = findClient(name);
  if (client !== undefined) return client;
  const known = CLIENTS.map((each) => each.id).join(", ");
  throw new CliError(`Unknown client ${JSON.stringify(name)}; the clients are ${known}`, 2);
}

function targetOf(args: SetupArgs, io: CliIo): Target {
  if (args.url === undefined) {
    return { kind: "command", command: args.command ?? ownCommand(io, args.project), env: args.env };
  }
  return { kind: "url", url: endpointUrl(args.url), ...(args.tokenEnv && { tokenEnv: args.tokenEnv }) };
}

function pathFor(client: Client, args: SetupArgs, io: CliIo): string {
  if (args.file !== undefined) return isAbsolute(args.file) ? args.file : resolve(io.cwd ?? process.cwd(), args.file);
  const path = args.project ? projectFile(client, io) : userFile(client, io, listFolder);
  if (path !== undefined) return path;
  throw new CliError(`${client.title} has no configuration file per project: leave --project out`, 2);
}

/** Steps a person takes, for clients that take URLs in their windows only. */
function printSteps(steps: readonly string[], url: string | undefined, io: CliIo): number {
  const shown = url ?? "https://YOUR-SERVER/mcp";
  const lines = steps.map((step, index) => `${index + 1}. ${step.replace("{url}", shown)}`);
  io.stdout.write(`${lines.join("\n")}\n`);
  const local = url !== undefined && /^http:|\/\/(localhost|127\.|\[::1\])/.test(url);
  if (local) io.stderr.write(`Note: ${url} is not an HTTPS address of the internet, so this client cannot reach it\n`);
  return 0;
}

function listClients(io: CliIo): number {
  const lines = CLIENTS.map((client) => {
    const path = client.file ? userFile(client, io, listFolder) : "in its own settings (setup prints the steps)";
    return `${client.id.padEnd(16)}${path ?? ""}`;
  });
  io.stdout.write(`${lines.join("\n")}\n`);
  return 0;
}

/** Notes on what the change means, for the person who is asked. */
function notesOn(args: SetupArgs, target: Target, io: CliIo): readonly string[] {
  const notes: string[] = [];
  if (io.platform === "win32" && args.url === undefined && !args.command && args.env.REPL_BACKEND !== "e2b") {
    notes.push(
      "Note: on Windows code runs only in E2B (--env REPL_BACKEND=e2b and E2B_API_KEY) or on a server (--url)",
    );
  }
  if (args.project && Object.keys(args.env).length > 0) {
    notes.push("Note: a project's file is often shared; the values of --env are in it as they are");
  }
  if (
    target.kind === "url" &&
    target.tokenEnv !== undefined &&
    /^http:\/\/(?!localhost|127\.|\[::1\])/.test(target.url)
  ) {
    notes.push("Note: over http:// the token travels readable for everyone on the way; use https://");
  }
  return notes;
}

function planned(text: string, path: string, title: string, file: ClientFile, name: string, entry: Entry): string {
  try {
    return planFile(text, file, name, entry);
  } catch (error) {
    if (error instanceof ConfigSyntaxError) {
      throw new CliError(`${path} was left alone, because ${title} could not read it either: ${error.message}`);
    }
    if (error instanceof ConfigShapeError) {
      const entryText = printEntry(file, name, entry);
      throw new CliError(`${path} was left alone: ${error.message}. To add it by hand:\n${entryText.trimEnd()}`);
    }
    throw error;
  }
}

async function writeEntry(
  client: Client,
  file: ClientFile,
  args: SetupArgs,
  io: CliIo,
  target: Target,
): Promise<number> {
  const entry = entryFor(client, target, args.name);
  const path = pathFor(client, args, io);
  if (args.print) {
    io.stdout.write(printEntry(file, args.name, entry));
    io.stderr.write(`For ${path}\n`);
    return 0;
  }
  const config = await readConfigFile(path);
  const text = planned(config.text ?? "", path, client.title, file, args.name, entry);
  if (text === config.text) {
    io.stdout.write(`${client.title} already has it: ${path}\n`);
    return 0;
  }
  io.stdout.write(`${path}${config.text === undefined ? " (new file)" : ""}\n${diffLines(config.text ?? "", text)}`);
  for (const note of notesOn(args, target, io)) io.stdout.write(`${note}\n`);
  if (!args.yes && !(await askYes(io, "Write this?"))) {
    io.stdout.write("Nothing was written; --yes writes without asking\n");
    return 1;
  }
  const backup = await writeConfigFile(config, text);
  io.stdout.write(`Written${backup === undefined ? "" : `; what was there before is in ${backup}`}\n${client.next}\n`);
  return 0;
}

async function run(args: SetupArgs, io: CliIo): Promise<number> {
  if (args.help) {
    io.stdout.write(SETUP_HELP);
    return 0;
  }
  if (args.client === undefined) return listClients(io);
  const client = clientNamed(args.client);
  const target = targetOf(args, io);
  const { remote } = client;
  if ("steps" in remote && (target.kind === "url" || client.file === undefined)) {
    return printSteps(remote.steps, target.kind === "url" ? target.url : undefined, io);
  }
  if (client.file === undefined) throw new CliError(`${client.title} has no configuration file`, 2);
  return writeEntry(client, client.file, args, io, target);
}

/**
 * `edge-python-repl setup CLIENT …`: adds this server to an MCP client's configuration.
 * @returns 0 done, already there or printed; 1 refused or declined, nothing changed; 2 called wrongly.
 */
export async function setupCommand(args: readonly string[], io: CliIo = processIo()): Promise<number> {
  try {
    return await run(parseSetupArgs(args), io);
  } catch (error) {
    return reportCliError(error, io);
  }
}
