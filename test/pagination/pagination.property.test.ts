import * as fc from "fast-check";
import { CursorLoopError } from "pod-partner";
import { describe, expect, it } from "vitest";
import { partnerWith } from "../support/partner.ts";
import { ref } from "../support/references.ts";

/** What happens before a response: new orders come to the front, or the page is empty. */
type Event = "one order" | "two orders" | "empty page";

interface Model {
  readonly size: number;
  readonly pageSize: number;
  /** What a cursor stands for: the number of entries before the page, or the entry before it. */
  readonly by: "offset" | "entry";
  /** The number of the request whose response has the cursor `""`, from 1. */
  readonly emptyCursorAt: number;
  /** The events, by the number of the request. */
  readonly events: ReadonlyMap<number, Event>;
}

const event = fc.tuple(
  fc.integer({ min: 2, max: 12 }),
  fc.constantFrom<Event>("one order", "two orders", "empty page"),
);

// Four events move an entry by eight pages at most, which is as far as the iteration remembers.
const model: fc.Arbitrary<Model> = fc.record({
  size: fc.integer({ min: 0, max: 12 }),
  pageSize: fc.integer({ min: 1, max: 4 }),
  by: fc.constantFrom("offset", "entry"),
  emptyCursorAt: fc.integer({ min: 1, max: 6 }),
  events: fc.array(event, { maxLength: 4 }).map((events) => new Map(events)),
});

/**
 * A service with a list of orders, the newest first, that changes while it is read (specification 4.11). To one with `emptyIsNone`, an
 * empty cursor is none: it ends a list with it, and begins again when it receives it.
 */
function startService({ size, pageSize, by, emptyCursorAt, events }: Model, emptyIsNone = false) {
  const initial = Array.from({ length: size }, (_, index) => ({ reference: ref("Order", `${size - index}`) }));
  let entries = initial;
  /** What the cursors stand for. */
  const places = new Map<string | null, number | string>();
  let requests = 0;
  const offsetOf = (cursor: string | null): number => {
    const place = places.get(cursor) ?? 0;
    return typeof place === "number" ? place : 1 + entries.findIndex(({ reference }) => reference === place);
  };
  const fetch = async ({ url }: Request): Promise<Response> => {
    requests += 1;
    const event = events.get(requests);
    const added = event === "one order" ? 1 : event === "two orders" ? 2 : 0;
    // Only the references of new orders have letters.
    const news = Array.from({ length: added }, (_, index) => ({ reference: ref("Order", `n${requests}n${index}`) }));
    entries = [...news, ...entries];
    const from = offsetOf(new URL(url).searchParams.get("cursor"));
    const orders = event === "empty page" ? [] : entries.slice(from, from + pageSize);
    if (event !== "empty page" && orders.length < pageSize)
      return Response.json({ orders, nextCursor: emptyIsNone ? "" : null });
    const until = from + orders.length;
    const place = by === "offset" ? until : (entries[until - 1]?.reference ?? 0);
    const own = event === "empty page" ? `${place} ${requests}` : `${place}`;
    const nextCursor = requests === emptyCursorAt && !emptyIsNone ? "" : own;
    places.set(nextCursor, place);
    return Response.json({ orders, nextCursor });
  };
  const partner = partnerWith({ fetch, retry: { retries: 0 } });
  return { partner, initial, requests: () => requests };
}

/** Iterates the list, also if it ends with an error. */
async function iterate(given: Model, emptyIsNone = false) {
  const { partner, initial, requests } = startService(given, emptyIsNone);
  const read: string[] = [];
  let error: unknown;
  try {
    for await (const { reference } of partner.orders.list()) read.push(reference);
  } catch (thrown) {
    error = thrown;
  }
  return { read, error, initial: initial.map(({ reference }) => reference), requests: requests() };
}

const isOld = (reference: string) => !reference.includes("n");

describe("a list that changes while it is read (law 5)", () => {
  it('has each order once, in its order, with empty pages and with "" as a cursor', () =>
    fc.assert(
      fc.asyncProperty(model, async (given) => {
        const { read, error, initial } = await iterate(given);
        expect(error).toBeUndefined();
        expect(read.filter(isOld)).toEqual(initial);
        expect(new Set(read).size).toBe(read.length);
      }),
      { numRuns: 200 },
    ));

  it('loses no order, and ends with an error, when "" leads to its beginning', () =>
    fc.assert(
      fc.asyncProperty(model, async (given) => {
        const { read, error, initial, requests } = await iterate(given, true);
        expect(CursorLoopError.isInstance(error)).toBe(true);
        // Beyond the pages that are remembered, an order comes twice before the error.
        expect([...new Set(read.filter(isOld))]).toEqual(initial);
        // Twice through the list, with a page for each order and each event.
        expect(requests).toBeLessThanOrEqual(2 * (12 + 8 + 1) + 4);
      }),
      { numRuns: 200 },
    ));
});
