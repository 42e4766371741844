import { createHash } from "node:crypto";
import { type Reference, type ReferenceKind, referenceAlphabet } from "../../references/references.ts";

/** What all references derive from. */
export interface ReferenceOrigin {
  readonly seed: string;
  readonly environment: "test" | "production";
}

/**
 * Makes references from a hash of the seed, the environment, the kind and a name, or the number of the reference. One seed always gives
 * the same references.
 */
export interface ReferenceMaker {
  /** Returns the reference of a name, for example of a product of the demo catalog. */
  named<Kind extends ReferenceKind>(kind: Kind, name: string): Reference<Kind>;
  /** Returns the next reference of a kind. */
  next<Kind extends ReferenceKind>(kind: Kind): Reference<Kind>;
  /** The number of a reference that `next` returned: 1 for the first of its kind. Undefined for another one. */
  numberOf(kind: ReferenceKind, reference: string): number | undefined;
  /** How many references of each kind `next` has returned. */
  save(): Readonly<Record<string, number>>;
  load(counts: Readonly<Record<string, number>>): void;
}

/** A character carries 5 bits. */
const bits = 5;
/** The characters of a scrambled number of 32 bits. */
const numberLength = 7;

const characterOf = (value: number): string => referenceAlphabet.charAt(value % referenceAlphabet.length);

/** Gives each whole number of 32 bits another one, without a pattern that one sees. No two numbers give the same. */
function scramble(number: number): number {
  let mixed = Math.imul(number, 0x9e3779b1);
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
  return (mixed ^ (mixed >>> 13)) >>> 0;
}

/** Undoes {@link scramble}. The factors are the inverses of its factors, modulo 2 to the power of 32. */
function unscramble(mixed: number): number {
  let number = Math.imul(mixed ^ (mixed >>> 13) ^ (mixed >>> 26), 0xa5cb9243);
  number = Math.imul(number ^ (number >>> 16), 0x0e8b2f51);
  return number >>> 0;
}

export function createReferenceMaker({ seed, environment }: ReferenceOrigin): ReferenceMaker {
  const counters = new Map<string, number>();
  /** The end of the numbered references of each kind. One hash for all of them: a world can have 100,000 orders. */
  const ends = new Map<string, string>();

  const charactersOf = (kind: ReferenceKind, name: string): string => {
    const hash = createHash("sha256").update(`${seed}/${environment}/${kind}/${name}`).digest();
    let characters = "";
    for (let place = 0; place < 26; place += 1) characters += characterOf(hash[place] ?? 0);
    return characters;
  };

  const endOf = (kind: ReferenceKind): string => {
    let end = ends.get(kind);
    if (end === undefined) {
      end = charactersOf(kind, "#").slice(numberLength);
      ends.set(kind, end);
    }
    return end;
  };

  return {
    named: (kind, name) => `${kind}_${charactersOf(kind, name)}`,
    next: (kind) => {
      const number = (counters.get(kind) ?? 0) + 1;
      counters.set(kind, number);
      const scrambled = scramble(number);
      let characters = "";
      for (let place = 0; place < numberLength; place += 1) characters += characterOf(scrambled >>> (place * bits));
      return `${kind}_${characters}${endOf(kind)}`;
    },
    numberOf: (kind, reference) => {
      const start = kind.length + 1;
      if (!reference.endsWith(endOf(kind)) || reference.length !== start + 26) return undefined;
      let scrambled = 0;
      for (let place = 0; place < numberLength; place += 1) {
        scrambled |= referenceAlphabet.indexOf(reference.charAt(start + place)) << (place * bits);
      }
      return unscramble(scrambled);
    },
    save: () => Object.fromEntries(counters),
    load: (counts) => {
      counters.clear();
      for (const [kind, number] of Object.entries(counts)) counters.set(kind, number);
    },
  };
}
