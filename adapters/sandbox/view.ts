import { existsSync, lstatSync, readlinkSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { isWithin } from "./python-paths.ts";

/** One folder or file of this machine, shown inside. */
export type Binding = { readonly from: string; readonly to: string; readonly writable: boolean };

/** What a confined process sees. All that is not named here is not there. */
export type View = {
  readonly network: boolean;
  /** The server is root: then it takes another user's id in place of a namespace of users. */
  readonly privileged: boolean;
  /** Bytes of memory that files in /dev/shm may take. */
  readonly sharedMemory: number | undefined;
  /** Shown in this order; what comes later covers what came before. */
  readonly bindings: readonly Binding[];
  readonly links: readonly { readonly path: string; readonly target: string }[];
  /** Folders that must not be seen, should a binding hold one. */
  readonly hidden: readonly string[];
  /** Folders in memory, empty at the start. */
  readonly volatile: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
};

/** User id inside, where the server is not root. */
export const INSIDE_ID = 1000;

const SYSTEM = ["/usr", "/nix/store", "/gnu/store"];
/** Today mostly links into /usr. */
const SYSTEM_OR_LINKS = ["/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"];
/** No passwords, keys or names of people. */
const SETTINGS = [
  "/etc/alternatives",
  "/etc/ca-certificates",
  "/etc/ca-certificates.conf",
  "/etc/debian_version",
  "/etc/fonts",
  "/etc/ld.so.cache",
  "/etc/ld.so.conf",
  "/etc/ld.so.conf.d",
  "/etc/localtime",
  "/etc/magic",
  "/etc/matplotlibrc",
  "/etc/mime.types",
  "/etc/nsswitch.conf",
  "/etc/os-release",
  "/etc/pki/ca-trust/extracted",
  "/etc/pki/tls/certs",
  "/etc/protocols",
  "/etc/services",
  "/etc/ssl/cert.pem",
  "/etc/ssl/certs",
  "/etc/ssl/openssl.cnf",
  "/etc/timezone",
  "/sys/devices/system/cpu",
];
const NETWORK_SETTINGS = ["/etc/gai.conf", "/etc/host.conf", "/etc/hosts", "/etc/resolv.conf"];

/** Arguments of bubblewrap that make the view, up to the command. */
export function viewArguments(view: View): string[] {
  return [
    ...["--die-with-parent", "--new-session", "--as-pid-1"],
    ...["--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try", "--hostname", "sandbox"],
    ...(view.network ? [] : ["--unshare-net"]),
    ...identity(view.privileged),
    ...["--clearenv", ...Object.entries(view.environment).flatMap(([name, value]) => ["--setenv", name, value])],
    ...systemArguments(view),
    ...["--proc", "/proc", "--dev", "/dev"],
    ...(view.sharedMemory === undefined ? [] : ["--size", String(view.sharedMemory)]),
    ...["--perms", "1777", "--tmpfs", "/dev/shm"],
    ...view.volatile.flatMap((path) => [...parents(path), "--perms", "1777", "--tmpfs", path]),
    ...view.links.flatMap(({ path, target }) => [...parents(path), "--symlink", target, path]),
    ...view.bindings.flatMap((binding) => bind(binding, view.hidden)),
    ...["--remount-ro", "/dev", "--remount-ro", "/"],
    ...["--chdir", "/"],
  ];
}

/** As root the capabilities are for what follows: it takes another id, whereupon all are gone. */
function identity(privileged: boolean): string[] {
  const id = String(INSIDE_ID);
  if (!privileged) return ["--unshare-user", "--uid", id, "--gid", id, "--cap-drop", "ALL"];
  const kept = ["CAP_SETUID", "CAP_SETGID", "CAP_SETPCAP"];
  return ["--cap-drop", "ALL", ...kept.flatMap((name) => ["--cap-add", name])];
}

function systemArguments(view: View): string[] {
  const shown = [...SYSTEM, ...SETTINGS, ...(view.network ? NETWORK_SETTINGS : [])].filter((path) => existsSync(path));
  const bindings = shown.map((path) => ({ from: path, to: path, writable: false }));
  return [...SYSTEM_OR_LINKS.flatMap(linkOrFolder), ...bindings.flatMap((binding) => bind(binding, view.hidden))];
}

function linkOrFolder(path: string): string[] {
  try {
    return lstatSync(path).isSymbolicLink() ? ["--symlink", readlinkSync(path), path] : ["--ro-bind", path, path];
  } catch {
    return []; // Not every system has all of them.
  }
}

function bind({ from, to, writable }: Binding, hidden: readonly string[]): string[] {
  const shown = [...parents(to), writable ? "--bind" : "--ro-bind", from, to];
  const held = hidden.filter((path) => isWithin(path, from));
  return [...shown, ...held.flatMap((path) => cover(path, to + path.slice(from.length)))];
}

function cover(path: string, inside: string): string[] {
  return statSync(path).isDirectory() ? ["--tmpfs", inside] : ["--ro-bind", "/dev/null", inside];
}

/** Folders on the way, open to all: bubblewrap would copy the rights of the real ones, such as those of /root. */
function parents(path: string): string[] {
  const parent = dirname(path);
  return parent === "/" ? [] : [...parents(parent), "--perms", "0755", "--dir", parent];
}
