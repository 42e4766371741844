import type { LoggedRequest, SavedWorld } from "pod-partner/testing";
import { inOneLine } from "../util/visible.ts";

/** What a run has made, in a form that does not depend on the references, times and identifiers of the run. */
export interface Result {
  /** The content of each order, with the names by which a person finds it. */
  readonly orders: ReadonlyMap<string, readonly string[]>;
  readonly claims: ReadonlyMap<string, readonly string[]>;
}

type Organization = SavedWorld["organizations"][number];

/** Groups things by their content. */
function byContent<Thing>(
  things: readonly Thing[],
  contentOf: (thing: Thing) => unknown,
  nameOf: (thing: Thing) => string,
): ReadonlyMap<string, readonly string[]> {
  const groups = Map.groupBy(things, (thing) => JSON.stringify(contentOf(thing)));
  return new Map([...groups].map(([content, equal]) => [content, equal.map(nameOf)]));
}

function resultOfOrganization({ orders, claims, addresses }: Organization): Result {
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

/** What is in a world, apart from what was there at the start. */
export function resultOf({ organizations }: SavedWorld): Result {
  const results = organizations.map(resultOfOrganization);
  return { orders: merge(results.map(({ orders }) => orders)), claims: merge(results.map(({ claims }) => claims)) };
}

const few = (names: readonly string[]): string =>
  inOneLine(names.length <= 3 ? names.join(", ") : `${names.slice(0, 3).join(", ")} and ${names.length - 3} more`);

/** The names of things that are too many: first those that occur more often than they should. With random identifiers, the last ones. */
function surplus(names: readonly string[], expected: readonly string[]): readonly string[] {
  const left = [...expected];
  const [usual, repeated] = [[] as string[], [] as string[]];
  for (const name of names) {
    const at = left.indexOf(name);
    (at === -1 ? repeated : usual).push(name);
    if (at !== -1) left.splice(at, 1);
  }
  return [...usual, ...repeated].slice(expected.length);
}

/** What differs between the orders, or the claims, of two runs: at most one sentence for each kind of difference. */
function differences(
  expected: ReadonlyMap<string, readonly string[]>,
  found: ReadonlyMap<string, readonly string[]>,
): readonly { readonly kind: "doubled" | "missing" | "different"; readonly text: string }[] {
  const missing: string[] = [];
  const doubled: string[] = [];
  const different: string[] = [];
  for (const [content, names] of expected) {
    const count = found.get(content)?.length ?? 0;
    if (count < names.length) missing.push(...names.slice(count));
  }
  for (const [content, names] of found) {
    const usual = expected.get(content) ?? [];
    (usual.length > 0 ? doubled : different).push(...surplus(names, usual));
  }
  // An order that was not canceled, for example, is both: missing with its content, and there with another.
  const changed = different.filter((name) => missing.includes(name));
  const extra = different.filter((name) => !missing.includes(name));
  const gone = missing.filter((name) => !changed.includes(name));
  return [
    { kind: "doubled", names: doubled, text: "made twice" },
    { kind: "missing", names: gone, text: "missing" },
    { kind: "different", names: changed, text: "not as in the run without a fault" },
    { kind: "doubled", names: extra, text: "made although the run without a fault did not" },
  ].flatMap(({ kind, names, text }) =>
    names.length === 0 ? [] : [{ kind: kind as "doubled", text: `${text}: ${few(names)}` }],
  );
}

export interface Finding {
  readonly kind:
    | "doubled"
    | "missing"
    | "different"
    | "unfinished"
    | "failed"
    | "hammered"
    | "unread"
    | "leaked"
    | "callback";
  readonly text: string;
}

/** Compares what two runs have made. */
export const compare = (expected: Result, found: Result): readonly Finding[] => [
  ...differences(expected.orders, found.orders),
  ...differences(expected.claims, found.claims),
];

/** The milliseconds by which a request may come before the end of `Retry-After`: clocks and networks differ. */
const tolerance = 250;

/** Whether a program sent many more requests than without a fault, or did not wait as it was told to. */
export function hammering(requests: readonly LoggedRequest[], expected: number): readonly Finding[] {
  // Look-ups after a restart are many, and right. A loop without a pause sends thousands.
  const most = 10 * expected + 100;
  const findings: Finding[] = [];
  if (requests.length > most) {
    findings.push({ kind: "hammered", text: `${requests.length} requests, ${expected} without a fault` });
  }
  const pauses = new Map<string, { readonly from: number; readonly until: number }>();
  let early = 0;
  for (const { call = "", time, status, response, duration = 0 } of requests) {
    const { from, until } = pauses.get(call) ?? { from: 0, until: 0 };
    // What was sent before the 429 arrived could not know.
    if (time > from + tolerance && time < until - tolerance) early += 1;
    const seconds = Number(response?.headers["retry-after"]);
    const end = time + duration;
    if (status === 429 && seconds > 0) {
      pauses.set(call, { from: time < until ? from : end, until: Math.max(until, end + seconds * 1_000) });
    }
  }
  if (early > 0) findings.push({ kind: "hammered", text: `${early} requests before the time of Retry-After` });
  return findings;
}

/** What the emulator records instead of a key. */
const redacted = "[redacted]";

/** Whether the key is anywhere but in its header. */
export function leaks(requests: readonly LoggedRequest[]): readonly Finding[] {
  const where = requests.find(({ path, request }) =>
    [path, request.body?.text].some((text) => text?.includes(redacted)),
  );
  return where === undefined
    ? []
    : [{ kind: "leaked", text: `the key is in the URL or body of ${where.method} ${where.call ?? "a request"}` }];
}

/** Whether the log has lost the earliest requests, so that the run cannot be judged. */
export function unread(requests: readonly LoggedRequest[]): readonly Finding[] {
  const sent = requests.at(-1)?.id ?? 0;
  return sent > requests.length
    ? [{ kind: "unread", text: `${sent} requests are more than verify can read: give it less work` }]
    : [];
}
