import type { SavedOrganization, SavedWorld } from "../saved-world.ts";
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

/** Checks that no reference, name, key or store code occurs more than once, also not in two organizations. */
export function checkUniqueness({ organizations }: SavedWorld, findings: Findings): void {
  for (const list of lists) {
    const seen = new Set<string>();
    for (const [at, organization] of organizations.entries()) {
      for (const [position, { reference }] of organization[list].entries()) {
        if (seen.has(reference))
          findings.add(["organizations", at, list, position], `${reference} occurs more than once`);
        seen.add(reference);
      }
    }
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
