import type { SavedOrganization, SavedWorld } from "../saved-world.ts";
import type { World } from "../world.ts";
import type { Findings } from "./findings.ts";

const lists = [
  "keys",
  "stores",
  "addresses",
  "images",
  "evidence",
  "renders",
  "orders",
  "shipments",
  "claims",
] as const satisfies readonly (keyof SavedOrganization)[];

type ListName = (typeof lists)[number];

/** Reports the references of a list that occur more than once. A list whose table is as long has none, and is not searched. */
function checkList(name: ListName, saved: SavedOrganization, worlds: readonly World[], at: number, findings: Findings) {
  const [world, earlier] = [worlds[at], worlds.slice(0, at)];
  const records = saved[name];
  if (earlier.length === 0 && world?.[name].size === records.length) return;
  const seen = new Set<string>();
  for (const [position, { reference }] of records.entries()) {
    if (seen.has(reference) || earlier.some((other) => other[name].get(reference) !== undefined)) {
      findings.add(["organizations", at, name, position], `${reference} occurs more than once`);
    }
    seen.add(reference);
  }
}

/** Checks that no reference, name, key or store code occurs more than once, also not in two organizations. */
export function checkUniqueness({ organizations }: SavedWorld, worlds: readonly World[], findings: Findings): void {
  for (const [at, organization] of organizations.entries()) {
    for (const name of lists) checkList(name, organization, worlds, at, findings);
  }
  const unique = (path: readonly string[], valuesOf: (organization: SavedOrganization) => readonly string[]) => {
    const seen = new Set<string>();
    for (const [at, organization] of organizations.entries()) {
      for (const value of valuesOf(organization)) {
        // A key is a secret: the message does not show it.
        if (seen.has(value)) findings.add(["organizations", at, ...path], "has a value that occurs more than once");
        seen.add(value);
      }
    }
  };
  unique(["name"], ({ name }) => [name]);
  unique(["keys", "secretKey"], ({ keys }) => keys.map(({ secretKey }) => secretKey));
  unique(["stores", "legacyCode"], ({ stores }) => stores.map(({ legacyCode }) => legacyCode));
}
