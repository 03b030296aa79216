import { type Bench, ms, type Row, ratioRow } from "../lib/bench.ts";
import { legacyClient } from "../lib/mcp-client.ts";
import { interleave, median, ratioOf, times } from "../lib/measure.ts";
import { connect, openSession, startOurs } from "../lib/servers.ts";

const CALLS = 100;
const ROUNDS = 11;

/** Clients of 2026 and of 2025. */
export const eras: Bench = {
  name: "eras",
  about: "the same calls by a client of 2026-07-28 and by one of 2025-11-25, against each other",
  async run(context) {
    const server = await startOurs(context, { REPL_STORAGE: "memory" });
    const modern = connect(context, server.url);
    const legacy = await legacyClient(server.url);
    context.defer(() => legacy.close());
    await openSession(modern, "s");
    const calls = {
      run_code: { session_id: "s", code: "1+1" },
      list_sessions: {},
    };
    const rows: Row[] = [];
    for (const [tool, args] of Object.entries(calls)) {
      const rounds = await interleave(ROUNDS, {
        modern: async () => median(await times(CALLS, () => modern.call(tool, args))),
        legacy: async () => median(await times(CALLS, () => legacy.call(tool, args))),
      });
      const ratio = ratioOf(rounds.legacy, rounds.modern);
      rows.push(
        ratioRow(
          {
            what: `${tool} of a 2025 client against one of 2026`,
            floor: `${ms(median(rounds.modern))} (2026)`,
            ours: `${ms(median(rounds.legacy))} (2025)`,
            ratio: Math.max(ratio, 1 / ratio),
          },
          { most: 1.2 },
        ),
      );
    }
    return rows;
  },
};
