import type { Bench } from "../lib/bench.ts";
import { abuse } from "./abuse.ts";
import { call } from "./call.ts";
import { e2b } from "./e2b.ts";
import { eras } from "./eras.ts";
import { history } from "./history.ts";
import { leaks } from "./leaks.ts";
import { memory } from "./memory.ts";
import { output } from "./output.ts";
import { owners } from "./owners.ts";
import { peers } from "./peers.ts";
import { prints } from "./prints.ts";
import { scale } from "./scale.ts";
import { start } from "./start.ts";
import { throughput } from "./throughput.ts";
import { worker } from "./worker.ts";

/** In the order of the table. */
export const BENCHES: readonly Bench[] = [
  call,
  throughput,
  start,
  memory,
  prints,
  history,
  owners,
  abuse,
  e2b,
  output,
  worker,
  leaks,
  eras,
  peers,
  scale,
];
