import { AppError } from "../core/errors.ts";
import { locked, type StoreContext } from "./context.ts";
import { packagesKey } from "./keys.ts";
import { checkPackages } from "./schemas.ts";

const MAX_REQUIREMENTS = 1_000;

export async function readPackages(context: StoreContext, owner: string): Promise<string[]> {
  const key = packagesKey(owner);
  const value = await context.values.read(key);
  if (value === undefined) return [];
  const checked = checkPackages(value);
  if ("value" in checked) return checked.value.requirements;
  context.log(`The stored value ${key} is taken as absent: ${checked.reason}`);
  return [];
}

export function addPackages(context: StoreContext, owner: string, added: readonly string[]): Promise<string[]> {
  return locked(context, packagesKey(owner), async () => {
    const before = await readPackages(context, owner);
    const requirements = [...before.filter((requirement) => !added.includes(requirement)), ...new Set(added)];
    if (requirements.length > MAX_REQUIREMENTS) {
      throw new AppError(
        "LIMIT_REACHED",
        `You have ${before.length} installed requirements and ${MAX_REQUIREMENTS} are allowed, so no more can be added`,
      );
    }
    await context.values.write(packagesKey(owner), { requirements });
    return requirements;
  });
}
