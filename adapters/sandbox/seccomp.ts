/**
 * A filter of system calls (seccomp) for confined processes: what Python never needs, and what has opened most holes in
 * kernels. No new namespaces, no mounts, no keyrings, no BPF, no io_uring, no modules: programs see `EPERM`. Sockets are
 * of the internet or local ones: others, such as those between virtual machines, know no namespace of networks.
 */

/** Numbers of system calls by the names that Node gives to processors: x64, arm64. */
const REFUSED: readonly (readonly [x64: number, arm64: number])[] = [
  [272, 97], // unshare
  [308, 268], // setns
  [165, 40], // mount
  [166, 39], // umount2
  [155, 41], // pivot_root
  [161, 51], // chroot
  [428, 428], // open_tree
  [429, 429], // move_mount
  [430, 430], // fsopen
  [431, 431], // fsconfig
  [432, 432], // fsmount
  [433, 433], // fspick
  [442, 442], // mount_setattr
  [303, 264], // name_to_handle_at
  [304, 265], // open_by_handle_at
  [248, 217], // add_key
  [249, 218], // request_key
  [250, 219], // keyctl
  [321, 280], // bpf
  [298, 241], // perf_event_open
  [323, 282], // userfaultfd
  [425, 425], // io_uring_setup
  [426, 426], // io_uring_enter
  [427, 427], // io_uring_register
  [246, 104], // kexec_load
  [320, 294], // kexec_file_load
  [175, 105], // init_module
  [313, 273], // finit_module
  [176, 106], // delete_module
  [163, 89], // acct
  [167, 224], // swapon
  [168, 225], // swapoff
  [169, 142], // reboot
  [103, 116], // syslog
  [179, 60], // quotactl
];

type Machine = {
  readonly audit: number;
  readonly clone: number;
  readonly socket: number;
  readonly column: 0 | 1;
  readonly x32: boolean;
};

const MACHINES: Readonly<Record<string, Machine>> = {
  x64: { audit: 0xc000003e, clone: 56, socket: 41, column: 0, x32: true },
  arm64: { audit: 0xc00000b7, clone: 220, socket: 198, column: 1, x32: false },
};

/** AF_UNIX, AF_INET, AF_INET6, AF_NETLINK. */
const FAMILIES = [1, 2, 10, 16];

/** Its arguments lie in memory, where a filter cannot look: libraries fall back to `clone` when there is none. */
const CLONE3 = 435;
const X32_BIT = 0x40000000;
/** All `CLONE_NEW…` flags. */
const NAMESPACES = 0x7e020000;

const LOAD = 0x20;
const IF_EQUAL = 0x15;
const IF_AT_LEAST = 0x35;
const IF_ANY_BIT = 0x45;
const RETURN = 0x06;

const ALLOW = 0x7fff0000;
const KILL = 0x80000000;
const refuse = (errno: number): number => 0x00050000 | errno;
const EPERM = refuse(1);
const ENOSYS = refuse(38);
const EAFNOSUPPORT = refuse(97);

/** Offsets in the structure that filters read. */
const NUMBER = 0;
const ARCHITECTURE = 4;
const FIRST_ARGUMENT = 16;

type Instruction = readonly [code: number, ifTrue: number, ifFalse: number, value: number];

/** Returns when `value` compares, else goes on behind. */
function returnIf(compare: number, value: number, result: number): Instruction[] {
  return [
    [compare, 0, 1, value],
    [RETURN, 0, 0, result],
  ];
}

/** Of a call by this number, `checks` decide; others go on behind them. */
function forCall(number: number, checks: readonly Instruction[]): Instruction[] {
  return [[IF_EQUAL, 0, checks.length, number], ...checks];
}

/** The program for bubblewrap's `--seccomp`; undefined for a processor whose numbers we do not know. */
export function seccompFilter(processor: string): Uint8Array | undefined {
  const machine = MACHINES[processor];
  if (!machine) return undefined;
  return encode([
    [LOAD, 0, 0, ARCHITECTURE],
    [IF_EQUAL, 1, 0, machine.audit],
    [RETURN, 0, 0, KILL],
    [LOAD, 0, 0, NUMBER],
    ...(machine.x32 ? returnIf(IF_AT_LEAST, X32_BIT, ENOSYS) : []),
    ...REFUSED.flatMap((numbers) => returnIf(IF_EQUAL, numbers[machine.column], EPERM)),
    ...returnIf(IF_EQUAL, CLONE3, ENOSYS),
    ...forCall(machine.clone, [
      [LOAD, 0, 0, FIRST_ARGUMENT],
      ...returnIf(IF_ANY_BIT, NAMESPACES, EPERM),
      [RETURN, 0, 0, ALLOW],
    ]),
    ...forCall(machine.socket, [
      [LOAD, 0, 0, FIRST_ARGUMENT],
      ...FAMILIES.flatMap((family) => returnIf(IF_EQUAL, family, ALLOW)),
      [RETURN, 0, 0, EAFNOSUPPORT],
    ]),
    [RETURN, 0, 0, ALLOW],
  ]);
}

/** As the kernel wants it: 8 bytes each, in the byte order of the machine, which is little-endian on both. */
function encode(program: readonly Instruction[]): Uint8Array {
  const view = new DataView(new ArrayBuffer(program.length * 8));
  for (const [index, [code, ifTrue, ifFalse, value]] of program.entries()) {
    view.setUint16(index * 8, code, true);
    view.setUint8(index * 8 + 2, ifTrue);
    view.setUint8(index * 8 + 3, ifFalse);
    view.setUint32(index * 8 + 4, value, true);
  }
  return new Uint8Array(view.buffer);
}
