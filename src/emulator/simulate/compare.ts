import { shorten } from "../../errors/base.ts";
import { isObject, propertyOf } from "../../util/foreign.ts";
import { inOneLine } from "../../util/visible.ts";
import type { SavedOrganization, SavedWorld } from "../state/saved-world.ts";

/** What a program has made, in a form that does not depend on references, times and identifiers: see {@link madeIn}. */
export interface Made {
  /** The names by which a person finds the orders of each content. */
  readonly orders: ReadonlyMap<string, readonly string[]>;
  /** The same of claims. */
  readonly claims: ReadonlyMap<string, readonly string[]>;
}

/** What differs between two runs of a program: see {@link differences}. */
export interface Difference {
  readonly kind: "doubled" | "missing" | "different";
  /** Names at most three orders or claims: `made twice: shop-1`. */
  readonly text: string;
}

/** Groups things by their content. */
function byContent<Thing>(
  things: readonly Thing[],
  contentOf: (thing: Thing) => unknown,
  nameOf: (thing: Thing) => string,
): ReadonlyMap<string, readonly string[]> {
  const groups = Map.groupBy(things, (thing) => JSON.stringify(contentOf(thing)));
  return new Map([...groups].map(([content, equal]) => [content, equal.map(nameOf)]));
}

function madeFor({ orders, claims, addresses }: SavedOrganization): Made {
  const addressOf = new Map(
    addresses.map(({ reference, address }) => [reference, { ...address, reference: undefined }]),
  );
  const nameOf = new Map(orders.map(({ reference, customIdentifier }) => [reference, customIdentifier ?? reference]));
  const contentOf = ({
    storeReference,
    shippingKind,
    minimalLevel,
    lines,
    dropshipAddressReference,
  }: (typeof orders)[number]) => ({
    storeReference,
    shippingKind,
    minimalLevel,
    lines: lines.map(({ shippedQuantity: _, ...line }) => line),
    address: dropshipAddressReference === null ? null : addressOf.get(dropshipAddressReference),
  });
  // The order of a claim by its content: its identifier may be random.
  const contents = new Map(orders.map((order) => [order.reference, contentOf(order)]));
  return {
    // A replacement is the service's own order.
    orders: byContent(
      orders.filter(({ settles }) => settles === undefined),
      contentOf,
      ({ reference }) => nameOf.get(reference) ?? reference,
    ),
    claims: byContent(
      claims,
      ({ comment, lines, retracted }) => ({
        comment,
        retracted: retracted !== null,
        lines: lines.map(({ orderReference, orderlineIndex, quantity, categoryReference, evidence }) => ({
          order: contents.get(orderReference),
          orderlineIndex,
          quantity,
          categoryReference,
          photos: evidence.length,
        })),
      }),
      ({ orderReference }) => `the claim about ${nameOf.get(orderReference) ?? orderReference}`,
    ),
  };
}

const merge = (maps: readonly ReadonlyMap<string, readonly string[]>[]): ReadonlyMap<string, readonly string[]> =>
  new Map(maps.flatMap((map) => [...map]));

/**
 * The orders and claims in a world, by their content.
 *
 * @example
 * const made = madeIn(emulator.world());
 */
export function madeIn({ organizations }: Pick<SavedWorld, "organizations">): Made {
  const all = organizations.map(madeFor);
  return { orders: merge(all.map(({ orders }) => orders)), claims: merge(all.map(({ claims }) => claims)) };
}

const few = (names: readonly string[]): string =>
  inOneLine(names.length <= 3 ? names.join(", ") : `${names.slice(0, 3).join(", ")} and ${names.length - 3} more`);

/** The names that are too many. With random identifiers, nothing tells which ones of an equal content they are. */
function surplus(names: readonly string[], expected: readonly string[]): readonly string[] {
  const count = names.length - expected.length;
  if (count <= 0) return [];
  const left = [...expected];
  const repeated = names.filter((name) => {
    const at = left.indexOf(name);
    if (at !== -1) left.splice(at, 1);
    return at === -1;
  });
  if (repeated.length === count) return repeated;
  const again = names.filter((name, at) => names.indexOf(name) < at);
  return again.length === count ? again : [`${count === 1 ? "one" : count} of ${few(names)} (the same content)`];
}

const json = (value: unknown): string => shorten(JSON.stringify(value) ?? "nothing", 40);

/** The fields in which two contents differ: `lines[0].quantity is 1 instead of 2`. */
function changesOf(was: unknown, is: unknown, path = ""): readonly string[] {
  if (isObject(was) && isObject(is))
    return [...new Set([...Object.keys(was), ...Object.keys(is)])].flatMap((name) =>
      changesOf(
        propertyOf(was, name),
        propertyOf(is, name),
        Array.isArray(was) ? `${path}[${name}]` : `${path}.${name}`,
      ),
    );
  return was === is ? [] : [`${path.replace(/^\./, "")} is ${json(is)} instead of ${json(was)}`];
}

/** A content of this name that the other run does not have as often. */
const contentOnlyIn = (made: Made["orders"], other: Made["orders"], name: string): unknown =>
  JSON.parse(
    [...made].find(
      ([content, names]) => names.includes(name) && surplus(names, other.get(content) ?? []).length > 0,
    )?.[0] ?? "null",
  );

/** What differs between the orders, or the claims, of two runs: at most one sentence for each kind of difference. */
function differencesOf(expected: Made["orders"], found: Made["orders"]): readonly Difference[] {
  const missing: string[] = [];
  const doubled: string[] = [];
  const different: string[] = [];
  for (const [content, names] of expected) {
    missing.push(...surplus(names, found.get(content) ?? []));
  }
  for (const [content, names] of found) {
    const usual = expected.get(content) ?? [];
    (usual.length > 0 ? doubled : different).push(...surplus(names, usual));
  }
  // An order that was not canceled, for example, is both: missing with its content, and there with another.
  const changed = different.filter((name) => missing.includes(name));
  const extra = different.filter((name) => !missing.includes(name));
  const gone = missing.filter((name) => !changed.includes(name));
  const changes = changed.map((name) => {
    const fields = changesOf(contentOnlyIn(expected, found, name), contentOnlyIn(found, expected, name));
    return fields.length === 0 ? name : `${name} (${few(fields)})`;
  });
  const all = [
    { kind: "doubled", names: doubled, text: "made twice" },
    { kind: "missing", names: gone, text: "missing" },
    { kind: "different", names: changes, text: "not as in the run without a fault" },
    { kind: "doubled", names: extra, text: "made although the run without a fault did not" },
  ] as const;
  return all.flatMap(({ kind, names, text }) => (names.length === 0 ? [] : [{ kind, text: `${text}: ${few(names)}` }]));
}

/**
 * Compares what two runs of a program have made: orders and claims that are missing, made more than once, or different. Empty when both have
 * made the same.
 *
 * @example
 * const other = createEmulator({ clock: createManualClock() });
 * expect(differences(madeIn(other.world()), madeIn(emulator.world()))).toEqual([]);
 */
export const differences = (expected: Made, found: Made): readonly Difference[] => [
  ...differencesOf(expected.orders, found.orders),
  ...differencesOf(expected.claims, found.claims),
];

/**
 * The orders that share their identifier with another order: a program has placed them more than once. Empty when each has its own.
 *
 * @example
 * expect(repeatedOrders(madeIn(emulator.world()))).toEqual([]);
 */
export function repeatedOrders({ orders }: Made): readonly Difference[] {
  const names = [...orders.values()].flat();
  const repeated = [...Map.groupBy(names, (name) => name)].flatMap(([name, equal]) => (equal.length > 1 ? [name] : []));
  return repeated.length === 0 ? [] : [{ kind: "doubled", text: `made twice: ${few(repeated)}` }];
}
