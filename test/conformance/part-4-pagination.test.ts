import { expect, it } from "vitest";
import { png } from "./support/images.ts";
import { claimed, placeOrder } from "./support/inputs.ts";
import { expectRefusal, type Service, startService } from "./support/service.ts";
import { expectShape, list, nullOr, object, ref, text } from "./support/shapes.ts";

const lists = ["orders", "claims", "products", "images", "items"] as const;
type List = (typeof lists)[number];

/** A service whose pages have three items, with records in each list. */
async function withRecords(count = 7, pageSize = 3): Promise<Service> {
  const service = await startService({ pageSize });
  for (let number = 0; number < count; number += 1) {
    await claimed(service);
    await service.upload("/images", png(`image ${number}`));
    service.clock.advance(1000);
  }
  return service;
}

interface Page {
  readonly references: readonly string[];
  readonly nextCursor: string | null;
}

async function pageOf(service: Service, name: List, query: Readonly<Record<string, string>> = {}): Promise<Page> {
  const { status, body } = await service.get(`/${name}?${new URLSearchParams(query)}`);
  expect(status).toBe(200);
  return {
    references: body[name].map(({ reference }: { reference: string }) => reference),
    nextCursor: body.nextCursor,
  };
}

/** All pages of a list, at most 50. */
async function pagesOf(service: Service, name: List, query: Readonly<Record<string, string>> = {}) {
  const pages = [await pageOf(service, name, query)];
  for (let cursor = pages[0]?.nextCursor; typeof cursor === "string" && pages.length < 50; ) {
    const page = await pageOf(service, name, { cursor });
    pages.push(page);
    cursor = page.nextCursor;
  }
  return pages;
}

it.each(lists)("4.11 rule 1, 4.11 rule 2: GET /%s has its list and nextCursor", async (name) => {
  await using service = await withRecords(1);
  const { body } = await service.get(`/${name}`);
  expectShape(body, object({ [name]: list(object({ reference: text })), nextCursor: nullOr(text) }));
  expect(body[name].length).toBeGreaterThan(0);
});

it.each(lists)("4.11 rule 3: the cursors of GET /%s lead to every item once", async (name) => {
  await using service = await withRecords();
  const paged = (await pagesOf(service, name)).flatMap(({ references }) => references);
  await using whole = await startService({ pageSize: 1000 });
  const { products } = (await whole.get("/products")).body;
  const { items } = (await whole.get("/items")).body;
  const counts = { orders: 7, claims: 7, images: 8, products: products.length, items: items.length };
  expect([new Set(paged).size, paged.length]).toEqual([counts[name], counts[name]]);
});

it.each(lists)("4.11 rule 4: GET /%s has a cursor after a full page only", async (name) => {
  await using service = await withRecords(6);
  for (const { references, nextCursor } of await pagesOf(service, name)) {
    expect(references.length).toBeLessThanOrEqual(3);
    expect(typeof nextCursor).toBe(references.length === 3 ? "string" : "object");
  }
});

it("4.11 rule 4: a final page is empty when the last one was full", async () => {
  await using service = await withRecords(6);
  const pages = await pagesOf(service, "orders");
  expect(pages.map(({ references }) => references.length)).toEqual([3, 3, 0]);
  expect(pages.at(-1)?.nextCursor).toBeNull();
});

it("4.11 rule 4: an empty list has no cursor", async () => {
  await using service = await startService();
  expect(await pageOf(service, "orders")).toEqual({ references: [], nextCursor: null });
});

it.each(lists)("4.11 rule 5: GET /%s refuses a constructed cursor and one of another list", async (name) => {
  await using service = await withRecords(3);
  const { nextCursor } = await pageOf(service, name === "orders" ? "claims" : "orders");
  for (const cursor of [nextCursor ?? "", "2", "abc", "", "-1", "%00"]) {
    expectRefusal(await service.get(`/${name}?${new URLSearchParams({ cursor })}`), 400);
  }
});

it("4.11 rule 6: orders, claims and images are newest first", async () => {
  await using service = await startService({ pageSize: 2 });
  const created: Record<"orders" | "claims" | "images", string[]> = { orders: [], claims: [], images: [] };
  for (let number = 0; number < 5; number += 1) {
    const { order, claim } = await claimed(service);
    created.orders.unshift(order);
    created.claims.unshift(claim);
    // The first order has uploaded its own image.
    if (number === 0) created.images.push(...(await pageOf(service, "images")).references);
    created.images.unshift((await service.upload("/images", png(`image ${number}`))).body.image.reference);
    service.clock.advance(1000);
  }
  for (const name of ["orders", "claims", "images"] as const) {
    expect((await pagesOf(service, name)).flatMap(({ references }) => references)).toEqual(created[name]);
  }
});

it.each(lists)("4.11 rule 6: GET /%s has the same order each time", async (name) => {
  await using service = await withRecords(5);
  expect(await pagesOf(service, name)).toEqual(await pagesOf(service, name));
});

it("4.11 rule 3: orders that are placed between two pages do not change the next page", async () => {
  await using service = await withRecords(5);
  const { references, nextCursor } = await pageOf(service, "orders");
  const before = await pageOf(service, "orders", { cursor: nextCursor ?? "" });
  await placeOrder(service);
  expect(await pageOf(service, "orders", { cursor: nextCursor ?? "" })).toEqual(before);
  expect(references.filter((reference) => before.references.includes(reference))).toEqual([]);
});

it("4.11 rule 3: the cursor alone keeps the filter of the claims", async () => {
  await using service = await startService({ pageSize: 2 });
  for (let number = 0; number < 5; number += 1) {
    const { claim } = await claimed(service);
    await service.post(`/claims/${claim}/retract`);
  }
  const closedAfter = new Date(service.clock.now()).toISOString();
  service.clock.advance(30 * 86_400_000);
  expect(await pageOf(service, "claims")).toEqual({ references: [], nextCursor: null });
  const pages = await pagesOf(service, "claims", { closedAfter });
  expect(pages.map(({ references }) => references.length)).toEqual([2, 2, 1]);
});

it("4.11 rule 2: every reference of a page is of the list's kind", async () => {
  await using service = await withRecords(1);
  const kinds = { orders: "Order", claims: "Claim", products: "Product", images: "Image", items: "Item" };
  for (const name of lists) expectShape((await pageOf(service, name)).references, list(ref(kinds[name])));
});
