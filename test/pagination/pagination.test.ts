import { getEventListeners } from "node:events";
import { CursorLoopError } from "pod-partner";
import { describe, expect, it } from "vitest";
import { rejection, useExchange } from "../support/exchange.ts";
import { ref } from "../support/references.ts";
import type { Recorded } from "../support/stub-service.ts";

const a = { reference: ref("Order", "a") };
const b = { reference: ref("Order", "b") };
const c = { reference: ref("Order", "c") };
const d = { reference: ref("Order", "d") };
const page = (orders: readonly object[], nextCursor: string | null) => ({ body: { orders, nextCursor } });
const failed = { status: 400, body: { code: "invalid_cursor", message: "No such cursor." } };

describe("a list yields each item once (specification 4.11, law 5)", () => {
  const { context } = useExchange();
  const service = () => context.service;
  const list = (options?: Parameters<typeof context.partner.orders.list>[0]) => context.partner.orders.list(options);
  const cursors = () =>
    service().requests.map(({ path }) => new URL(path, service().origin).searchParams.get("cursor"));

  it("sends no request before it is iterated", async () => {
    service().respond(page([a], null));
    const orders = list();
    expect(service().requests).toHaveLength(0);
    expect(await orders.toArray()).toStrictEqual([a]);
  });

  it("requests the next page with the cursor of the previous page, and stops at null", async () => {
    service().respond(page([a], "p2"), page([b], "p3"), page([c], null));
    expect(await list().toArray()).toStrictEqual([a, b, c]);
    expect(service().requests.map(({ path }) => path)).toStrictEqual([
      "/v2/orders",
      "/v2/orders?cursor=p2",
      "/v2/orders?cursor=p3",
    ]);
  });

  it("sends a cursor unchanged, whatever it contains", async () => {
    const cursor = "a+b/c==&x=1#é %2B?";
    service().respond(page([a], cursor), page([], null));
    await list().toArray();
    expect(cursors()).toStrictEqual([null, cursor]);
  });

  it("continues after an empty page with a cursor", async () => {
    service().respond(page([], "p2"), page([a], "p3"), page([], "p4"), page([b], null));
    expect(await list().toArray()).toStrictEqual([a, b]);
  });

  it("ends at an empty last page", async () => {
    service().respond(page([a], "p2"), page([], null));
    expect(await list().toArray()).toStrictEqual([a]);
  });

  it('accepts "" as a cursor like any other', async () => {
    service().respond(page([a], ""), page([b], null));
    expect(await list().toArray()).toStrictEqual([a, b]);
    expect(service().requests.map(({ path }) => path)).toStrictEqual(["/v2/orders", "/v2/orders?cursor="]);
  });

  it.each([
    ["at once", ["p2"]],
    ["after several pages", ["p2", "p3", "p4"]],
    ['as ""', ["p2", "", "p3", ""]],
  ])("throws an error, and does not loop, when a cursor is repeated %s", async (_, chain) => {
    service().respondAlways(({ path }) => {
      const at = chain.indexOf(new URL(path, service().origin).searchParams.get("cursor") ?? "none");
      return page([], chain[(at + 1) % chain.length] ?? null);
    });
    expect(await rejection(list().toArray())).toMatchObject({ name: "CursorLoopError", endpoint: "GET /orders" });
    expect(service().requests.length).toBeLessThanOrEqual(chain.length + 1);
  });

  it.each([
    ["after one page", [[a, b]]],
    ["after two pages", [[a, b], [c]]],
    ["of an empty list", [[]]],
    [
      "when a new order moved one to the next page",
      [[a, b], [c]],
      [
        [d, a],
        [b, c],
      ],
    ],
  ])(
    'reads a list to its end, and then throws, %s when the service begins again at ""',
    async (_, pages, later = pages) => {
      // This service takes an empty cursor for none: the SDK cannot know whether it means the end, so it does not end as if it were complete.
      let begun = 0;
      service().respondAlways(({ path }) => {
        const cursor = new URL(path, service().origin).searchParams.get("cursor") || undefined;
        begun += cursor === undefined ? 1 : 0;
        const at = Number(cursor ?? 0);
        const current = begun > 1 ? later : pages;
        return page(current[at] ?? [], at + 1 < current.length ? String(at + 1) : "");
      });
      const given = new Set<unknown>();
      const iterate = async () => {
        for await (const { reference } of list()) given.add(reference);
      };
      expect(CursorLoopError.isInstance(await rejection(iterate()))).toBe(true);
      expect([...given]).toEqual(expect.arrayContaining(pages.flat().map(({ reference }) => reference)));
      expect(service().requests.length).toBeLessThanOrEqual(pages.length + 2);
    },
  );

  it('loses nothing when "" is a cursor and a new order moved one to the next page', async () => {
    service().respond(page([a, b], ""), page([b, c], "p3"), page([d], null));
    expect(await list().toArray()).toStrictEqual([a, b, c, d]);
    expect(cursors()).toStrictEqual([null, "", "p3"]);
  });

  it("yields an item once that is on each of many pages, also with empty pages between them", async () => {
    const pages = Array.from({ length: 24 }, (_, index) => page(index % 2 === 0 ? [a] : [], `p${index}`));
    service().respond(...pages, page([a, b], null));
    expect(await list().toArray()).toStrictEqual([a, b]);
  });

  it("yields an item once when it moves across a page boundary", async () => {
    service().respond(page([a, b], "p2"), page([b, c], null));
    expect(await list().toArray()).toStrictEqual([a, b, c]);
  });

  it("sends new requests when it is iterated again", async () => {
    service().respond(page([a], "p2"), page([b], null), page([c], "p9"), page([a], null));
    const orders = list();
    expect(await orders.toArray()).toStrictEqual([a, b]);
    expect(await orders.toArray()).toStrictEqual([c, a]);
    expect(cursors()).toStrictEqual([null, "p2", null, "p9"]);
  });

  it("keeps two concurrent iterations separate", async () => {
    service().respondAlways(({ path }) => (path.includes("p2") ? page([b], null) : page([a], "p2")));
    const orders = list();
    const both = await Promise.all([orders.toArray(), orders.toArray()]);
    expect(both).toStrictEqual([
      [a, b],
      [a, b],
    ]);
  });

  it("yields its pages, also empty ones", async () => {
    service().respond(page([a, b], "p2"), page([], "p3"), page([b, c], null));
    const pages: unknown[] = [];
    for await (const one of list().pages()) pages.push(one);
    expect(pages).toMatchObject([
      { items: [a, b], nextCursor: "p2" },
      { items: [], nextCursor: "p3" },
      { items: [c], nextCursor: null },
    ]);
  });

  it.each([
    [0, []],
    [1, [a]],
    [2, [a, b]],
    [3, [a, b, c]],
    [9, [a, b, c]],
  ])("returns at most toArray({ limit: %i })", async (limit, items) => {
    service().respondAlways(({ path }) => (path.includes("p2") ? page([c], null) : page([a, b], "p2")));
    expect(await list().toArray({ limit })).toStrictEqual(items);
  });

  it("yields the items before a failed page, and then throws the failure", async () => {
    service().respond(page([a, b], "p2"), failed);
    const given: unknown[] = [];
    const iterate = async () => {
      for await (const order of list()) given.push(order);
    };
    await expect(rejection(iterate())).resolves.toMatchObject({ name: "BadRequestError", code: "invalid_cursor" });
    expect(given).toStrictEqual([a, b]);
  });
});

describe("a list prefetches only as many pages as `prefetch` says", () => {
  const { context } = useExchange();
  const list = (options?: Parameters<typeof context.partner.orders.list>[0]) => context.partner.orders.list(options);

  /** A response that never comes, the request, and an event for the client's disconnection. */
  function stalled() {
    const asked = Promise.withResolvers<Recorded>();
    const gone = Promise.withResolvers<void>();
    const respond = (request: Recorded) => {
      request.gone.addEventListener("abort", () => gone.resolve());
      asked.resolve(request);
      return new Promise<never>(() => undefined);
    };
    return { respond, asked: asked.promise, gone: gone.promise };
  }

  it("has sent the request for the next page before the caller's work on this one begins, also work that blocks", async () => {
    const steps: string[] = [];
    const pages = [page([a], "p2"), page([b], null)];
    const sendLate = async (): Promise<Response> => {
      const { body } = pages.shift() ?? expect.fail("one request too many");
      // As Node's `fetch`, which sends a request a few turns of the event loop after it was called.
      for (let turn = 0; turn < 2; turn += 1) await new Promise(setImmediate);
      steps.push("sent");
      return Response.json(body);
    };
    const partner = context.connect({ fetch: sendLate });
    for await (const { reference } of partner.orders.list()) steps.push(reference);
    expect(steps).toEqual(["sent", "sent", a.reference, b.reference]);
  });

  it.each([0, 1, 2, 5])("is exactly %i pages ahead of the first item with this prefetch", async (prefetch) => {
    const reached = Promise.withResolvers<void>();
    let asked = 0;
    context.service.respondAlways(({ path }) => {
      if (path === "/v2/auth/validate") return { body: { message: "Yes." } };
      asked += 1;
      if (asked === 1 + prefetch) reached.resolve();
      return page([{ reference: ref("Order", String(asked)) }], String(asked));
    });
    for await (const _ of list({ prefetch })) {
      await reached.promise;
      // A page too many would be requested before these responses.
      for (let round = 0; round < 3; round++) await context.partner.auth.validate();
      break;
    }
    expect(asked).toBe(1 + prefetch);
  });

  it("aborts the pending request when the loop is left", async () => {
    const second = stalled();
    context.service.respond(page([a, b], "p2"), second.respond);
    for await (const order of list()) {
      expect(order).toStrictEqual(a);
      await second.asked;
      break;
    }
    await second.gone;
    expect(context.service.requests).toHaveLength(2);
  });

  it("aborts the pending request when the loop body throws", async () => {
    const second = stalled();
    context.service.respond(page([a, b], "p2"), second.respond);
    const broken = new Error("the work failed");
    const iterate = async () => {
      for await (const _ of list()) {
        await second.asked;
        throw broken;
      }
    };
    expect(await rejection(iterate())).toBe(broken);
    await second.gone;
  });

  it("includes the caller's stack in the error of a prefetched page", async () => {
    context.service.respond(page([a], "p2"), failed);
    const error = await rejection(context.partner.orders.list().toArray());
    expect(Reflect.get(Object(error), "stack")).toContain("pagination.test.ts");
  });

  it("does not report a prefetched page that failed after the loop was left", async () => {
    const asked = Promise.withResolvers<void>();
    context.service.respond(page([a], "p2"), () => {
      asked.resolve();
      return failed;
    });
    for await (const _ of list()) {
      await asked.promise;
      break;
    }
    // An unhandled rejection would fail the run; these turns of the event loop let it appear.
    await context.partner.auth.validate().catch(() => undefined);
    expect(context.service.requests).toHaveLength(3);
  });

  it("ends at the signal with the signal's reason, at any point", async () => {
    const second = stalled();
    const controller = new AbortController();
    const reason = new Error("the user left");
    context.service.respond(page([a], "p2"), second.respond);
    const collecting = rejection(list({ signal: controller.signal }).toArray());
    await second.asked;
    controller.abort(reason);
    expect(await collecting).toBe(reason);
    await second.gone;
  });

  it.each(["to its end", "to its middle", "into a failure"])(
    "leaves no listener on the signal when it is iterated %s",
    async (how) => {
      const { signal } = new AbortController();
      context.service.respond(page([a, b], "p2"), how === "into a failure" ? failed : page([c], null));
      await list({ signal, prefetch: 0 })
        .toArray({ limit: how === "to its middle" ? 1 : 9 })
        .catch(() => undefined);
      expect(context.service.requests).toHaveLength(how === "to its middle" ? 1 : 2);
      expect(getEventListeners(signal, "abort")).toStrictEqual([]);
    },
  );

  it("sends no request when the signal is already aborted", async () => {
    const reason = new Error("too late");
    expect(await rejection(list({ signal: AbortSignal.abort(reason) }).toArray())).toBe(reason);
    expect(context.service.requests).toHaveLength(0);
  });
});
