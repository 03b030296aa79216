import type { StoreContext } from "./context.ts";
import { usageKey } from "./keys.ts";
import { checkUsage, type Usage } from "./schemas.ts";

/** What an owner has used on one day; undefined when nothing, or nothing that makes sense, is stored. */
export async function readUsage(context: StoreContext, owner: string): Promise<Usage | undefined> {
  const key = usageKey(owner);
  const value = await context.values.read(key);
  if (value === undefined) return undefined;
  const checked = checkUsage(value);
  if ("value" in checked) return checked.value;
  context.log(`The stored value ${key} is taken as absent: ${checked.reason}`);
  return undefined;
}

export function writeUsage(context: StoreContext, owner: string, usage: Usage): Promise<void> {
  return context.values.write(usageKey(owner), usage);
}
