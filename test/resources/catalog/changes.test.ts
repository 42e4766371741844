import { type ListSnapshot, type Product, RequestValidationError } from "pod-partner";
import { describe, expect, it } from "vitest";
import { ChangingList, detailOf, product } from "../../support/changing-list.ts";
import { rejection } from "../../support/exchange.ts";
import { ref } from "../../support/references.ts";

const listOf = (...ids: readonly string[]) => new ChangingList(ids.map((id) => product(id)));

/** A snapshot of a list, as a database returns it. */
async function snapshotOf(list: ChangingList): Promise<ListSnapshot<Product>> {
  const { snapshot } = await list.connect().catalog.products.changes();
  list.requests.length = 0;
  return JSON.parse(JSON.stringify(snapshot));
}

describe("catalog.products.changes (specification 2.6, 4.3, 4.11)", () => {
  it("returns every product as added without a snapshot, and reads each page once", async () => {
    const list = listOf("1", "2", "3");
    const { added, changed, removed } = await list.connect().catalog.products.changes();
    expect({ added, changed, removed }).toStrictEqual({
      added: list.entries.map((current) => ({ current })),
      changed: [],
      removed: [],
    });
    expect(list.requests).toEqual(["/products", "/products?cursor=2"]);
  });

  it("also takes null as `since`, as a database returns it for a missing row", async () => {
    const list = listOf("1");
    const { added } = await list.connect().catalog.products.changes({ since: null });
    expect(added).toStrictEqual([{ current: product("1") }]);
  });

  it("returns nothing when nothing changed", async () => {
    const list = listOf("1", "2", "3");
    const since = await snapshotOf(list);
    const { snapshot, ...changes } = await list.connect().catalog.products.changes({ since });
    expect(changes).toStrictEqual({ added: [], changed: [], removed: [] });
    expect(snapshot).toStrictEqual(since);
    expect(list.requests).toHaveLength(2);
  });

  it.each([
    ["name", "Another name", "Case 2"],
    ["status", "sunsetted", "launched"],
    ["availableQuantity", 0, 10],
    ["layersModified", "2026-03-02T00:00:00Z", "2026-03-01T09:00:00.000Z"],
    ["printModified", "2026-03-02T00:00:00Z", "2026-03-01T08:00:00.000Z"],
    ["legacyItemSKU", "CASE-9", "CASE-2"],
  ])("names the changed field %s, with its old and its new value", async (field, now, before) => {
    const list = listOf("1", "2", "3");
    const since = await snapshotOf(list);
    list.update(ref("Product", "2"), { [field]: now });
    const { added, changed, removed } = await list.connect().catalog.products.changes({ since });
    const current = { ...product("2"), [field]: now };
    const previous = { ...product("2"), [field]: before };
    expect(changed).toStrictEqual([{ current, previous, fields: [field] }]);
    expect([...added, ...removed]).toEqual([]);
  });

  it.each([
    ["added", {}, { color: "red" }],
    ["changed", { color: "red" }, { color: "blue" }],
    ["removed", { color: "red" }, {}],
    ["changed to null", { color: "red" }, { color: null }],
    ["changed in depth", { color: { rgb: [1, 2, 3] } }, { color: { rgb: [1, 2, 4] } }],
    ["changed in order", { color: ["red", "blue"] }, { color: ["blue", "red"] }],
    ["of another type", { color: "1" }, { color: 1 }],
  ])("names an unknown field that was %s", async (_, before, now) => {
    const list = new ChangingList([product("1", before), product("2")]);
    const since = await snapshotOf(list);
    list.entries = [product("1", now), product("2")];
    const { changed } = await list.connect().catalog.products.changes({ since });
    expect(changed).toMatchObject([{ current: { reference: ref("Product", "1") }, fields: ["color"] }]);
  });

  it("does not report another order of keys in an unknown field", async () => {
    const list = new ChangingList([product("1", { size: { width: 1, height: { mm: 2, in: 3 } } })]);
    const since = await snapshotOf(list);
    list.entries = [product("1", { size: { height: { in: 3, mm: 2 }, width: 1 } })];
    expect((await list.connect().catalog.products.changes({ since })).changed).toEqual([]);
  });

  it("names a long name that changed, without the old one, which the snapshot has as a hash", async () => {
    const long = "A case with a very long name, for the phone of the year";
    const list = new ChangingList([product("1", { name: long })]);
    const since = await snapshotOf(list);
    expect(JSON.stringify(since)).not.toContain(long);
    list.update(ref("Product", "1"), { name: `${long}!`, status: "ended" });
    const { changed } = await list.connect().catalog.products.changes({ since });
    expect(changed).toMatchObject([{ fields: ["name", "status"], previous: { status: "launched" } }]);
    expect(changed[0]?.previous).not.toHaveProperty("name");
  });

  it("confirms a removal with one request, by a 404 or a 410 of the service", async () => {
    const list = listOf("1", "2", "3", "4");
    const since = await snapshotOf(list);
    list.remove(ref("Product", "2"), ref("Product", "3"));
    list.meanwhile = (_, path) =>
      path.endsWith("3") ? Response.json({ code: "gone", message: "Archived." }, { status: 410 }) : undefined;
    const { removed, snapshot } = await list.connect().catalog.products.changes({ since });
    expect(removed).toMatchObject([
      { previous: { ...product("2"), name: "Case 2", status: "launched", availableQuantity: 10 } },
      { previous: { reference: ref("Product", "3") } },
    ]);
    expect(list.requests.filter((path) => path.includes("Product_")).sort()).toEqual([
      `/products/${ref("Product", "2")}`,
      `/products/${ref("Product", "3")}`,
    ]);
    expect(snapshot.rows.map(([id]) => String(id).slice(-1))).toEqual(["1", "4"]);
  });

  it.each([
    ["a 404 of a gateway", new Response("<html>", { status: 404 }), "NotFoundError"],
    ["a 403", Response.json({ code: "forbidden", message: "No." }, { status: 403 }), "PermissionDeniedError"],
    ["a 500", new Response("", { status: 500 }), "ServerError"],
  ])("does not take %s for a removal: it rejects", async (_, response, name) => {
    const list = listOf("1", "2");
    const since = await snapshotOf(list);
    list.remove(ref("Product", "2"));
    list.meanwhile = (_request, path) => (path.includes("Product_") ? response : undefined);
    expect(await rejection(list.connect().catalog.products.changes({ since }))).toMatchObject({ name });
  });

  it("keeps a product that only moved between pages, and compares its known fields", async () => {
    const list = new ChangingList(["1", "2", "3", "4", "5"].map((id) => product(id, { color: "red" })));
    const since = await snapshotOf(list);
    // Product 1 is removed after the first page was read, so that product 3 moves to it.
    list.meanwhile = (request) => {
      if (request !== 1) return;
      list.remove(ref("Product", "1"));
      list.update(ref("Product", "3"), { status: "ended", color: "blue" });
    };
    const first = await list.connect().catalog.products.changes({ since });
    expect(first.removed).toEqual([]);
    expect(first.changed).toStrictEqual([
      {
        current: detailOf(product("3", { status: "ended", color: "blue" })),
        previous: product("3", { color: "red", status: "launched" }),
        fields: ["status"],
      },
    ]);
    const next = await list.connect().catalog.products.changes({ since: first.snapshot });
    expect(next.changed).toMatchObject([{ current: { reference: ref("Product", "3") }, fields: ["color"] }]);
    expect(next.removed).toMatchObject([{ previous: { reference: ref("Product", "1") } }]);
  });

  it("reads the details of added and changed products with `details`", async () => {
    const list = listOf("2", "3");
    const since = await snapshotOf(list);
    list.entries = [product("1"), product("2"), product("3", { status: "ended" })];
    const { added, changed } = await list.connect().catalog.products.changes({ since, details: true });
    expect(added).toStrictEqual([{ current: detailOf(product("1")) }]);
    expect(changed).toStrictEqual([
      { current: detailOf(product("3", { status: "ended" })), previous: product("3"), fields: ["status"] },
    ]);
    expect(list.requests).toHaveLength(4);
  });

  it("reports with `details` what the details show, when a product changes after its page was read", async () => {
    const list = listOf("2", "3", "4");
    const since = await snapshotOf(list);
    list.entries = [product("1"), ...["2", "3", "4"].map((id) => product(id, { availableQuantity: 5 }))];
    list.meanwhile = (request) => {
      if (request !== 3) return;
      list.update(ref("Product", "2"), { availableQuantity: 10 });
      list.update(ref("Product", "3"), { availableQuantity: 4 });
      list.remove(ref("Product", "1"), ref("Product", "4"));
    };
    const { added, changed, removed, snapshot } = await list
      .connect()
      .catalog.products.changes({ since, details: true });
    expect(added).toEqual([]);
    expect(changed).toMatchObject([
      { current: { availableQuantity: 4, weightGrams: 30 }, previous: { availableQuantity: 10 } },
    ]);
    expect(removed).toMatchObject([{ previous: { reference: ref("Product", "4") } }]);
    const { snapshot: _, ...next } = await list.connect().catalog.products.changes({ since: snapshot });
    expect(next).toEqual({ added: [], changed: [], removed: [] });
  });

  it("does not modify `since`", async () => {
    const list = listOf("1", "2", "3");
    const since = await snapshotOf(list);
    const freeze = (value: unknown): void => {
      if (typeof value === "object" && value !== null) Object.values(Object.freeze(value)).forEach(freeze);
    };
    freeze(since);
    list.entries = [product("4"), product("2", { name: "Other", extra: true })];
    const { added, changed, removed } = await list.connect().catalog.products.changes({ since });
    expect([added.length, changed.length, removed.length]).toEqual([1, 1, 2]);
  });

  it("refuses unknown options and a damaged snapshot together, before it sends a request", async () => {
    const list = listOf("1");
    const { snapshot } = await list.connect().catalog.products.changes();
    list.requests.length = 0;
    const since = { ...snapshot, version: 2 };
    const call = list.connect().catalog.products.changes({ detials: true, since } as never);
    const error = await rejection(call);
    if (!RequestValidationError.isInstance(error)) throw error;
    expect(error.issues.map(({ path }) => path)).toEqual([["since", "version"], ["detials"]]);
    expect(error.message).toContain("did you mean `details`?");
    expect(error.message).toContain("GET /products");
    expect(list.requests).toEqual([]);
  });
});
