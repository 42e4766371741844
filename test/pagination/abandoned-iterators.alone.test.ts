import { getEventListeners } from "node:events";
import { setImmediate } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { concurrently } from "../../src/util/concurrency.ts";
import { rejection } from "../support/exchange.ts";
import { collectGarbage } from "../support/garbage.ts";
import { partnerWith } from "../support/partner.ts";
import { ref } from "../support/references.ts";

/** A client of a service whose list never ends. */
const connect = () => {
  let page = 0;
  return partnerWith({
    fetch: async () => {
      const items = Array.from({ length: 100 }, () => ({ sku: "x".repeat(100), reference: ref("Order") }));
      return Response.json({ orders: items, nextCursor: `page-${++page}` });
    },
  });
};

/** Waits until the requests for prefetched pages have completed. */
async function rest() {
  for (let turn = 0; turn < 20; turn++) await setImmediate();
}

describe("an iterator that is abandoned after its first item while its signal lives on", () => {
  it("leaves no listener and is collected together with its prefetched pages", async () => {
    const partner = connect();
    const { signal } = new AbortController();
    const iterators: WeakRef<object>[] = [];
    const readOne = async () => {
      const iterator = partner.orders.list({ signal, prefetch: 3 })[Symbol.asyncIterator]();
      expect((await iterator.next()).done).toBe(false);
      iterators.push(new WeakRef(iterator));
    };
    for (let round = 0; round < 50; round++) await readOne();
    await rest();
    expect(getEventListeners(signal, "abort")).toEqual([]);
    collectGarbage();
    expect(iterators.filter((iterator) => iterator.deref() !== undefined)).toEqual([]);
  });

  it("leaves no listener if it makes many calls", async () => {
    const { signal } = new AbortController();
    const loop = concurrently([1, 2, 3], 2, async (input) => input, signal);
    expect(await loop.next()).toMatchObject({ value: { ok: true, value: 1 } });
    expect(getEventListeners(signal, "abort")).toEqual([]);
  });

  it("ends with the abort reason if it is resumed after an abort", async () => {
    const controller = new AbortController();
    const begun: number[] = [];
    const work = async (input: number) => {
      begun.push(input);
      return input;
    };
    const loop = concurrently([1, 2, 3, 4], 1, work, controller.signal);
    await loop.next();
    controller.abort("enough");
    expect(await rejection(loop.next())).toBe("enough");
    expect(begun).toEqual([1]);
  });

  it("ends at an abort while a page is requested", async () => {
    const controller = new AbortController();
    const partner = partnerWith({ fetch: () => new Promise<never>(() => undefined) });
    const page = rejection(partner.orders.list({ signal: controller.signal }).pages().next());
    await rest();
    controller.abort("enough");
    expect(await page).toBe("enough");
    expect(getEventListeners(controller.signal, "abort")).toEqual([]);
  });
});
