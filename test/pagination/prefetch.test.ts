import { setImmediate as nextTurn } from "node:timers/promises";
import { afterEach, describe, expect, it, vi } from "vitest";
import { partnerWith } from "../support/partner.ts";
import { ref } from "../support/references.ts";

const pageOf = (number: number, pages: number) => {
  const orders = [{ reference: ref("Order", `a${number}`) }, { reference: ref("Order", `b${number}`) }];
  return Response.json({ orders, nextCursor: number < pages ? `page ${number}` : null });
};

describe("the request for the next page", () => {
  it("is sent before the caller gets the page", async () => {
    let requests = 0;
    const fetch = async () => pageOf(++requests, 5);
    const sent: number[] = [];
    for await (const _ of partnerWith({ fetch }).orders.list().pages()) sent.push(requests);
    expect(sent).toEqual([2, 3, 4, 5, 5]);
  });

  it("is not sent before the iteration reaches the page, with no pages ahead", async () => {
    let requests = 0;
    const fetch = async () => pageOf(++requests, 3);
    const sent: number[] = [];
    const list = partnerWith({ fetch }).orders.list({ prefetch: 0 });
    for await (const _ of list.pages()) sent.push(requests);
    expect(sent).toEqual([1, 2, 3]);
  });
});

it("reads a list with as many pages ahead as there can be", async () => {
  let requests = 0;
  const fetch = async () => pageOf(++requests, 3);
  expect(await partnerWith({ fetch }).orders.list({ prefetch: Number.MAX_SAFE_INTEGER }).toArray()).toHaveLength(6);
});

it("requests each page once when the loop is faster than the service", async () => {
  const cursors: (string | null)[] = [];
  const fetch = async ({ url }: Request) => {
    cursors.push(new URL(url).searchParams.get("cursor"));
    const number = cursors.length;
    for (let turn = 0; turn < 10; turn += 1) await nextTurn();
    return pageOf(number, 6);
  };
  expect(await partnerWith({ fetch }).orders.list({ prefetch: 2 }).toArray()).toHaveLength(12);
  expect(cursors).toEqual([null, "page 1", "page 2", "page 3", "page 4", "page 5"]);
});

it("aborts the requests for the pages ahead when the loop is left", async () => {
  const signals: (AbortSignal | null | undefined)[] = [];
  const fetch = async (request: Request, init?: RequestInit) => {
    if (!request.url.includes("cursor")) return pageOf(1, 3);
    signals.push(init?.signal);
    return new Promise<never>(() => undefined);
  };
  for await (const _ of partnerWith({ fetch }).orders.list()) break;
  expect(signals.map((signal) => signal?.aborted)).toEqual([true]);
});

it("sends the options that the list had when the loop began", async () => {
  const headers: Record<string, string> = { "x-shop": "1" };
  const sent: (string | null)[] = [];
  const fetch = async (request: Request, init?: RequestInit) => {
    sent.push(new Headers(init?.headers ?? request.headers).get("x-shop"));
    headers["x-shop"] = "2";
    return pageOf(sent.length, 3);
  };
  await partnerWith({ fetch }).orders.list({ headers }).toArray();
  expect(sent).toEqual(["1", "1", "1"]);
});

describe("a page is returned", () => {
  afterEach(() => void vi.useRealTimers());

  /** A client whose first page arrives, and whose second page never does. */
  const connect = () => {
    let requests = 0;
    const fetch = async () => {
      requests += 1;
      if (requests === 1) return pageOf(1, 2);
      return new Promise<never>(() => undefined);
    };
    return partnerWith({ fetch });
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
    const pages = partnerWith({ fetch }).orders.list().pages();
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
});
