import { CursorLoopError } from "pod-partner";
import { describe, expect, it } from "vitest";
import { Paginator } from "../../src/pagination/paginator.ts";
import { rejection } from "../support/exchange.ts";

/** A list whose pages are given by their number, from 0. Each page's cursor is its number. */
function listOf(pageAt: (number: number) => { readonly items: readonly object[]; readonly next: number | null }) {
  let requests = 0;
  const fetchPage = async (cursor = "0") => {
    requests += 1;
    const { items, next } = pageAt(Number(cursor));
    return { items, nextCursor: next === null ? null : String(next) };
  };
  return { list: new Paginator<object>("GET /orders", fetchPage), requests: () => requests };
}

describe("the cursors of a list", () => {
  it("that repeat after 5,000 pages, more than are remembered, are an error after a limited number of pages", async () => {
    const loop = 5_000;
    const { list, requests } = listOf((number) => ({ items: [], next: (number + 1) % loop }));
    expect(await rejection(list.toArray())).toBeInstanceOf(CursorLoopError);
    expect(requests()).toBeGreaterThanOrEqual(loop);
    expect(requests()).toBeLessThan(10 * loop);
  });

  it("may be as many as there are, when none repeats", async () => {
    const pages = 50_000;
    const { list, requests } = listOf((number) => ({ items: [], next: number + 1 < pages ? number + 1 : null }));
    expect(await list.toArray()).toEqual([]);
    expect(requests()).toBe(pages);
  });
});

describe("the items of a list", () => {
  const [a, b, c] = [{ reference: "a" }, { reference: "b" }, { reference: "c" }];

  it("are returned once, also within a page, and those without a reference always", async () => {
    const pages = [
      { items: [a, b, {}], next: 1 },
      { items: [b, c, c, {}], next: null },
    ];
    const { list } = listOf((number) => pages[number] ?? expect.fail("no such page"));
    expect(await list.toArray()).toEqual([a, b, {}, c, {}]);
  });

  it.each([
    [8, 1],
    [9, 2],
  ])("that come again %i pages later are returned %i times: the memory is bounded", async (later, times) => {
    const { list } = listOf((number) => ({
      items: [number % later === 0 ? a : { reference: `of page ${number}` }],
      next: number < later ? number + 1 : null,
    }));
    const items = await list.toArray();
    expect(items.filter((item) => item === a)).toHaveLength(times);
  });
});
