import type { ListSnapshot, WarehouseItem } from "pod-partner";
import { describe, expect, it } from "vitest";
import { ChangingList, item } from "../../support/changing-list.ts";
import { rejection } from "../../support/exchange.ts";
import { ref } from "../../support/references.ts";

const listOf = (...ids: readonly string[]) => new ChangingList(ids.map((id) => item(id)));

async function snapshotOf(list: ChangingList): Promise<ListSnapshot<WarehouseItem>> {
  const { snapshot } = await list.connect().warehouse.items.changes();
  list.requests.length = 0;
  return JSON.parse(JSON.stringify(snapshot));
}

describe("warehouse.items.changes (specification 2.10, 4.3, 4.11)", () => {
  it("returns every item as added without a snapshot", async () => {
    const list = listOf("1", "2", "3");
    const { snapshot: _, ...changes } = await list.connect().warehouse.items.changes();
    expect(changes).toStrictEqual({
      added: list.entries.map((current) => ({ current })),
      changed: [],
      removed: [],
    });
    expect(list.requests).toEqual(["/items", "/items?cursor=2"]);
  });

  it("names the changed quantities, with their old and their new values", async () => {
    const list = listOf("1", "2");
    const since = await snapshotOf(list);
    list.update(ref("Item", "2"), { logicalQuantity: 40, physicalQuantity: 50 });
    const { changed } = await list.connect().warehouse.items.changes({ since });
    expect(changed).toStrictEqual([
      {
        current: item("2", { logicalQuantity: 40, physicalQuantity: 50 }),
        previous: { reference: ref("Item", "2"), sku: "CASE-2", logicalQuantity: 90, physicalQuantity: 100 },
        fields: ["logicalQuantity", "physicalQuantity"],
      },
    ]);
  });

  it("reports other linked products, but not another order of the same products", async () => {
    const [one, two, three] = ["1", "2", "3"].map((id) => ({ reference: ref("Product", id) }));
    const list = new ChangingList([item("1", { products: [one, two] }), item("2", { products: [one, two] })]);
    const since = await snapshotOf(list);
    list.entries = [item("1", { products: [two, one] }), item("2", { products: [one, three] })];
    const { changed } = await list.connect().warehouse.items.changes({ since });
    expect(changed).toMatchObject([{ current: { reference: ref("Item", "2") }, fields: ["products"], previous: {} }]);
  });

  it("reads the list a second time before an item counts as removed", async () => {
    const list = listOf("1", "2", "3");
    const since = await snapshotOf(list);
    list.remove(ref("Item", "2"));
    const { removed, snapshot } = await list.connect().warehouse.items.changes({ since });
    expect(removed).toMatchObject([{ previous: { reference: ref("Item", "2"), sku: "CASE-2", logicalQuantity: 90 } }]);
    expect(list.requests).toEqual(["/items", "/items?cursor=2", "/items", "/items?cursor=2"]);
    expect(snapshot.rows).toHaveLength(2);
  });

  it("keeps an item that only moved between pages, and reports what the second reading shows", async () => {
    const list = listOf("1", "2", "3", "4", "5");
    const since = await snapshotOf(list);
    list.meanwhile = (request) => {
      // After the first page of the first reading: item 3 moves to that page.
      if (request === 1) list.remove(ref("Item", "1"));
      if (request === 2) list.update(ref("Item", "3"), { logicalQuantity: 1 });
      if (request === 3) list.entries = [item("6"), ...list.entries];
    };
    const { added, changed, removed, snapshot } = await list.connect().warehouse.items.changes({ since });
    expect(removed).toEqual([]);
    expect(added).toStrictEqual([{ current: item("6") }]);
    expect(changed).toMatchObject([{ current: { reference: ref("Item", "3") }, fields: ["logicalQuantity"] }]);
    const next = await list.connect().warehouse.items.changes({ since: snapshot });
    expect(next).toMatchObject({ added: [], changed: [], removed: [{ previous: { reference: ref("Item", "1") } }] });
  });

  it("does not report an item as removed that two readings in a row miss, because both lost their place", async () => {
    const list = listOf("1", "2", "3", "4", "5", "6", "7");
    const since = await snapshotOf(list);
    const begins: number[] = [];
    list.meanwhile = (request, path) => {
      if (path === "/items") begins.push(request);
      // After the first page of each of the first two readings, its first item is removed. Item 5 moves over a page boundary twice.
      const page = request - (begins.at(-1) ?? 0);
      if (page === 2 && begins.length === 1) list.remove(ref("Item", "1"));
      if (page === 1 && begins.length === 2) list.entries = [item("8"), ...list.entries];
      if (page === 2 && begins.length === 2) list.remove(ref("Item", "2"), ref("Item", "3"));
    };
    const { removed } = await list.connect().warehouse.items.changes({ since });
    const present = new Set(list.entries.map(({ reference }) => reference));
    expect(removed.filter(({ previous }) => present.has(previous.reference))).toEqual([]);
    expect(begins.length).toBeGreaterThan(2);
  });

  it("does not report an item as removed that two readings in a row miss, because another one came and went", async () => {
    const list = listOf("a", "b", "c", "d", "e", "f");
    const since = await snapshotOf(list);
    // Each reading has four requests. In the first two readings, a new item moves item b to the second page and is removed again, so that
    // item d is on no page that is read.
    list.meanwhile = (request) => {
      if (request === 1 || request === 5) list.entries = [item(String(request)), ...list.entries];
      if (request === 2 || request === 6) list.remove(ref("Item", String(request - 1)));
    };
    const { added, removed } = await list.connect().warehouse.items.changes({ since });
    expect([...added, ...removed]).toEqual([]);
    expect(list.requests).toHaveLength(12);
  });

  it("reads at most four times, and keeps what is not certain for the next call", async () => {
    const list = listOf("0", "1", "2", "3", "4", "5", "6", "7", "8");
    const since = await snapshotOf(list);
    list.remove(ref("Item", "0"));
    let begun = 0;
    list.meanwhile = (_, path) => {
      if (path === "/items") begun++;
      // Each reading loses an item that it has read.
      if (path === "/items?cursor=4") list.remove(ref("Item", String(begun)));
    };
    const { removed, snapshot } = await list.connect().warehouse.items.changes({ since });
    expect(begun).toBe(4);
    expect(removed).toEqual([]);
    list.meanwhile = () => undefined;
    const next = await list.connect().warehouse.items.changes({ since: snapshot });
    expect(next.removed.map(({ previous }) => previous.reference.slice(-1)).sort()).toEqual(["0", "1", "2", "3", "4"]);
  });

  it("has no option `details`, because the service has no endpoint for one item", async () => {
    const error = await rejection(
      listOf("1")
        .connect()
        .warehouse.items.changes({ details: true } as never),
    );
    expect(error).toMatchObject({ name: "RequestValidationError", issues: [{ path: ["details"] }] });
  });
});
