import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { PodPartner } from "pod-partner";
import { nodeTransport } from "pod-partner/node";
import { afterEach, describe, expect, it, vi } from "vitest";
import { rejection } from "../support/exchange.ts";
import { secretKey } from "../support/partner.ts";
import { ref } from "../support/references.ts";

const baseUrl = "https://partner.example/v2";
const pageOf = (number: number, pages: number) => {
  const orders = [{ reference: ref("Order", `a${number}`) }, { reference: ref("Order", `b${number}`) }];
  return Response.json({ orders, nextCursor: number < pages ? `page ${number}` : null });
};

describe("the request for the next page", () => {
  /** Starts a service in another thread. `nextRequest` blocks this thread until a request after the first `count` ones has arrived. */
  async function startService(transport?: ReturnType<typeof nodeTransport>) {
    const shared = new SharedArrayBuffer(4);
    const worker = new Worker(new URL("../support/paged-list.worker.ts", import.meta.url), { workerData: shared });
    const [port] = (await once(worker, "message")) as [number];
    return {
      partner: new PodPartner({ baseUrl: `http://127.0.0.1:${port}/v2`, secretKey, transport }),
      nextRequest: (count: number) => Atomics.wait(new Int32Array(shared), 0, count, 2_000) !== "timed-out",
      stop: () => worker.terminate(),
    };
  }

  it.each([
    ["fetch", 1, undefined],
    ["fetch", 2, undefined],
    ["node:http", 1, nodeTransport()],
    ["node:http", 2, nodeTransport()],
  ])("arrives over %s while the caller blocks the thread, with %i pages ahead", async (_, prefetch, transport) => {
    const { partner, nextRequest, stop } = await startService(transport);
    try {
      const arrived: boolean[] = [];
      for await (const { nextCursor } of partner.orders.list({ prefetch }).pages()) {
        if (nextCursor !== null) arrived.push(nextRequest(arrived.length + 1));
      }
      expect(arrived).toEqual([true, true, true, true]);
    } finally {
      await stop();
    }
  });

  it("arrives while the caller blocks the thread on the last item of a page", async () => {
    const { partner, nextRequest, stop } = await startService();
    try {
      const arrived: boolean[] = [];
      let items = 0;
      for await (const _ of partner.orders.list()) {
        items += 1;
        if (items % 2 === 0 && items < 10) arrived.push(nextRequest(items / 2));
      }
      expect(arrived).toEqual([true, true, true, true]);
    } finally {
      await stop();
    }
  });

  it("is sent before the caller gets the page", async () => {
    let requests = 0;
    const fetch = async () => pageOf(++requests, 5);
    const sent: number[] = [];
    for await (const _ of new PodPartner({ baseUrl, secretKey, fetch }).orders.list().pages()) sent.push(requests);
    expect(sent).toEqual([2, 3, 4, 5, 5]);
  });

  it("is not sent before the iteration reaches the page, with no pages ahead", async () => {
    let requests = 0;
    const fetch = async () => pageOf(++requests, 3);
    const sent: number[] = [];
    const list = new PodPartner({ baseUrl, secretKey, fetch }).orders.list({ prefetch: 0 });
    for await (const _ of list.pages()) sent.push(requests);
    expect(sent).toEqual([1, 2, 3]);
  });
});

describe("a page is returned", () => {
  afterEach(() => void vi.useRealTimers());

  /** A client whose first page arrives, and whose second page never does. */
  const connect = (onSecond: () => void = () => undefined) => {
    let requests = 0;
    const fetch = async () => {
      requests += 1;
      if (requests === 1) return pageOf(1, 2);
      onSecond();
      return new Promise<never>(() => undefined);
    };
    return new PodPartner({ baseUrl, secretKey, fetch });
  };

  it("while the response for the next page is missing", async () => {
    const pages = connect().orders.list().pages();
    expect((await pages.next()).value?.items).toHaveLength(2);
    await pages.return();
  });

  it("while the next request waits for a token", async () => {
    let requests = 0;
    const limits = { "x-ratelimit-policy": '"default";q=1;w=60', "x-ratelimit": '"default";r=0;t=60' };
    const fetch = async () => {
      const response = pageOf(++requests, 2);
      for (const [name, value] of Object.entries(limits)) response.headers.set(name, value);
      return response;
    };
    const pages = new PodPartner({ baseUrl, secretKey, fetch }).orders.list().pages();
    expect((await pages.next()).value?.items).toHaveLength(2);
    expect(requests).toBe(1);
    await pages.return();
  });

  it("while fake timers stop the time", async () => {
    vi.useFakeTimers();
    const pages = connect().orders.list().pages();
    expect((await pages.next()).value?.items).toHaveLength(2);
    await pages.return();
  });

  it("not after an abort while the next request is sent", async () => {
    const controller = new AbortController();
    const partner = connect(() => controller.abort("enough"));
    expect(await rejection(partner.orders.list({ signal: controller.signal }).pages().next())).toBe("enough");
  });
});
