import { createHash } from "node:crypto";
import { type Reference, type ReferenceKind, referenceAlphabet } from "../../references/references.ts";
import type { Settings } from "../options.ts";

/** Makes references from a hash of the seed, the environment, the kind and a name. One seed always gives the same references. */
export interface ReferenceMaker {
  /** Returns the reference of a name, for example of a product of the demo catalog. */
  named<Kind extends ReferenceKind>(kind: Kind, name: string): Reference<Kind>;
  /** Returns the next reference of a kind. */
  next<Kind extends ReferenceKind>(kind: Kind): Reference<Kind>;
  /** How many references of each kind `next` has returned. */
  save(): Readonly<Record<string, number>>;
  load(counts: Readonly<Record<string, number>>): void;
}

export function createReferenceMaker({ seed, environment }: Pick<Settings, "seed" | "environment">): ReferenceMaker {
  const counters = new Map<string, number>();

  const named = <Kind extends ReferenceKind>(kind: Kind, name: string): Reference<Kind> => {
    const hash = createHash("sha256").update(`${seed}/${environment}/${kind}/${name}`).digest().subarray(0, 26);
    const characters = Array.from(hash, (byte) => referenceAlphabet.charAt(byte % referenceAlphabet.length));
    return `${kind}_${characters.join("")}`;
  };

  return {
    named,
    next: (kind) => {
      const number = (counters.get(kind) ?? 0) + 1;
      counters.set(kind, number);
      return named(kind, `#${number}`);
    },
    save: () => Object.fromEntries(counters),
    load: (counts) => {
      counters.clear();
      for (const [kind, number] of Object.entries(counts)) counters.set(kind, number);
    },
  };
}
