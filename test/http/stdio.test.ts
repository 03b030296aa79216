import { V1_LEGS } from "./client-v1.ts";
import { V2_LEGS } from "./client-v2.ts";
import { describeChecks } from "./suite.ts";
import { stdioServer } from "./target.ts";

for (const leg of [...V1_LEGS, ...V2_LEGS]) {
  if (leg.transport === "stdio") describeChecks(leg, stdioServer);
}
