import { V1_LEGS } from "./client-v1.ts";
import { V2_LEGS } from "./client-v2.ts";
import { CHECKS, CLIENT_CHECKS, describeChecks } from "./suite.ts";
import { sharedServer } from "./target.ts";

const server = sharedServer();

for (const leg of V1_LEGS) {
  if (leg.transport === "HTTP+SSE") describeChecks(leg, server);
}
for (const leg of V2_LEGS) {
  if (leg.transport === "HTTP+SSE") describeChecks(leg, server, leg.era === "2025" ? CLIENT_CHECKS : CHECKS);
}
