import type { Bench } from "../lib/bench.ts";
import { call } from "./call.ts";
import { history } from "./history.ts";
import { memory } from "./memory.ts";
import { owners } from "./owners.ts";
import { peers } from "./peers.ts";
import { prints } from "./prints.ts";
import { start } from "./start.ts";
import { throughput } from "./throughput.ts";

/** In the order of the table. */
export const BENCHES: readonly Bench[] = [call, throughput, start, memory, prints, history, owners, peers];
