import { V1_LEGS } from "./client-v1.ts";
import { V2_LEGS } from "./client-v2.ts";
import { CHECKS, CLIENT_CHECKS, describeChecks } from "./suite.ts";
import { stdioServer } from "./target.ts";

for (const leg of V1_LEGS) {
  if (leg.transport === "stdio") describeChecks(leg, stdioServer);
}
for (const leg of V2_LEGS) {
  if (leg.transport === "stdio") describeChecks(leg, stdioServer, leg.era === "2025" ? CLIENT_CHECKS : CHECKS);
}
