import { type ListSnapshot, type Product, RequestValidationError } from "pod-partner";
import { describe, expect, it } from "vitest";
import { ChangingList, item, product } from "../support/changing-list.ts";
import { rejection } from "../support/exchange.ts";
import { ref } from "../support/references.ts";

const bytesOf = (value: unknown) => Buffer.byteLength(JSON.stringify(value));

const takenOf = async (list: ChangingList) => (await list.connect().catalog.products.changes()).snapshot;

/** Writes a value as `jsonb` and reads it: PostgreSQL sorts keys by length, then by bytes. */
function throughDatabase(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(throughDatabase);
  const keys = Object.keys(value).sort((a, b) => a.length - b.length || (a < b ? -1 : 1));
  return Object.fromEntries(keys.map((key) => [key, throughDatabase(Reflect.get(value, key))]));
}

describe("a snapshot", () => {
  const names = ["a", "b", "c"];

  it("survives JSON and a database that sorts keys, and is compared exactly afterwards", async () => {
    const list = new ChangingList(names.map((id) => product(id, { extra: { a: [null, "é"], long: [1] } })));
    const snapshot = await takenOf(list);
    const stored = JSON.parse(JSON.stringify(throughDatabase(snapshot)));
    expect(stored).toEqual(snapshot);
    expect(Object.keys(stored)).not.toEqual(Object.keys(snapshot));
    list.update(ref("Product", "b"), { availableQuantity: 9 });
    const { added, changed, removed } = await list.connect().catalog.products.changes({ since: stored });
    expect([added, removed]).toEqual([[], []]);
    expect(changed).toMatchObject([{ fields: ["availableQuantity"], previous: { availableQuantity: 10 } }]);
  });

  it("has no text that PostgreSQL refuses in `jsonb`: U+0000 and half surrogates", async () => {
    const list = new ChangingList([product("a", { name: "\0" }), product("b", { name: "\ud83d" })]);
    const snapshot = await takenOf(list);
    expect(JSON.stringify(snapshot)).not.toMatch(/\\u0000|\\ud83d/);
    list.update(ref("Product", "b"), { name: "\ud83e" });
    const { changed } = await list.connect().catalog.products.changes({ since: snapshot });
    expect(changed).toMatchObject([{ fields: ["name"], previous: {} }]);
  });

  it.each([
    ["short names", {}],
    ["names of 500 characters", { name: "long ".repeat(100) }],
    [
      "names in Japanese, and timestamps with an offset",
      { name: "電話ケース".repeat(5), layersModified: "2026-03-01T09:00:00.000+01:00" },
    ],
    [
      "three more fields, with nested values",
      { a: { b: [1, 2, 3] }, c: "x".repeat(99), d: "2026-03-01T09:00:00.000Z" },
    ],
  ])("has less than 200 bytes a product with %s", async (_, fields) => {
    const count = 200;
    const list = new ChangingList(
      Array.from({ length: count }, (_, n) => product(String(n), fields)),
      100,
    );
    expect(bytesOf(await takenOf(list)) / count).toBeLessThan(200);
  });

  it("of an earlier version of the SDK, which did not know a field, reports no change in it", async () => {
    const list = new ChangingList([product("a"), product("b")]);
    const snapshot = await takenOf(list);
    // That version stored an unknown text of this length as the start of its SHA-256: of `"2026-03-01T09:00:00.000Z"` with its quotes.
    const column = 1 + snapshot.fields.indexOf("layersModified");
    const rows = snapshot.rows.map((row) => row.map((cell, at) => (at === column ? ["f4lHHRd1"] : cell)));
    const since: ListSnapshot<Product> = { ...snapshot, rows };
    list.update(ref("Product", "b"), { layersModified: "2026-03-05T09:00:00.000Z" });
    const { changed } = await list.connect().catalog.products.changes({ since });
    expect(changed).toMatchObject([{ current: { name: "Case b" }, fields: ["layersModified"] }]);
  });

  it("with other columns in another order is read by their names", async () => {
    const list = new ChangingList([product("a", { color: 1 }), product("b", { color: 2 })]);
    const { fields, rows, ...snapshot } = await takenOf(list);
    const since = {
      ...snapshot,
      fields: [...fields].reverse(),
      rows: rows.map(([id = "", ...cells]) => [id, ...cells.reverse()]),
    };
    expect(await list.connect().catalog.products.changes({ since })).toMatchObject({
      added: [],
      changed: [],
      removed: [],
    });
  });
});

describe("a damaged or foreign snapshot", () => {
  const taken = takenOf(new ChangingList([product("a"), product("b")]));
  const withRow = (row: unknown) => (snapshot: ListSnapshot<Product>) => ({
    ...snapshot,
    rows: [snapshot.rows[0], row],
  });

  it.each<[string, (snapshot: ListSnapshot<Product>) => unknown, (string | number)[], RegExp]>([
    ["its JSON", (snapshot) => JSON.stringify(snapshot), ["since"], /parse its JSON first/],
    ["an array", () => [], ["since"], /the `snapshot` of an earlier result/],
    ["a number", () => 1, ["since"], /the `snapshot` of an earlier result/],
    [
      "a later version",
      (snapshot) => ({ ...snapshot, version: 2 }),
      ["since", "version"],
      /begin again without `since`/,
    ],
    ["another kind", (snapshot) => ({ ...snapshot, kind: "Item" }), ["since", "kind"], /"Product": .* another list/],
    ["no names", ({ fields: _, ...snapshot }) => snapshot, ["since", "fields"], /expected an array/],
    ["a name that is not a text", (snapshot) => ({ ...snapshot, fields: [1] }), ["since", "fields", 0], /a string/],
    ["no rows", ({ rows: _, ...snapshot }) => snapshot, ["since", "rows"], /an array/],
    ["a row that is not an array", withRow({}), ["since", "rows", 1], /damaged/],
    ["an empty row", withRow([]), ["since", "rows", 1], /26 characters/],
    ["a row of a damaged reference", withRow([`${"0".repeat(25)}u`]), ["since", "rows", 1], /26 characters/],
    ["a cell that is an object", withRow(["0".repeat(26), {}]), ["since", "rows", 1], /damaged/],
    ["a cell with two hashes", withRow(["0".repeat(26), ["a", "b"]]), ["since", "rows", 1], /damaged/],
  ])("is a RequestValidationError before anything is sent: %s", async (_, damage, path, message) => {
    const list = new ChangingList([product("a")]);
    const since = damage(await taken) as ListSnapshot<Product>;
    const error = await rejection(list.connect().catalog.products.changes({ since }));
    if (!RequestValidationError.isInstance(error)) throw error;
    expect(error.issues).toEqual([{ path, message: expect.stringMatching(message) }]);
    expect(list.requests).toEqual([]);
  });

  it("is reported with its first faults only, when each of its rows is damaged", async () => {
    const since = { ...(await taken), rows: Array.from({ length: 5_000 }, () => ["damaged"]) };
    const error = await rejection(new ChangingList([]).connect().catalog.products.changes({ since } as never));
    if (!RequestValidationError.isInstance(error)) throw error;
    expect(error.issues).toHaveLength(100);
    expect(error.message.length).toBeLessThan(4_000);
  });

  it("is one of products that is given to items, also with no rows", async () => {
    const { snapshot } = await new ChangingList([]).connect().catalog.products.changes();
    const list = new ChangingList([item("a")]);
    const error = await rejection(list.connect().warehouse.items.changes({ since: snapshot as never }));
    expect(error).toMatchObject({ issues: [{ path: ["since", "kind"], message: expect.stringContaining('"Item"') }] });
    expect(list.requests).toEqual([]);
  });
});
