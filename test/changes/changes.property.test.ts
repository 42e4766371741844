import fc from "fast-check";
import type { ListChanges, Product, WarehouseItem } from "pod-partner";
import { describe, expect, it } from "vitest";
import type { ProductChangesOptions } from "../../src/resources/catalog/products.ts";
import { ChangingList, item, product, type Wire } from "../support/changing-list.ts";

/** Something that happens to the list before the response to a request. */
const step = fc.record({
  request: fc.integer({ min: 0, max: 12 }),
  kind: fc.constantFrom("insert", "remove", "change", "change", "move"),
  place: fc.nat(30),
  value: fc.nat(3),
});
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

const course = fc.record({
  pageSize: fc.integer({ min: 1, max: 4 }),
  count: fc.integer({ min: 0, max: 10 }),
  before: fc.array(step, { maxLength: 4 }),
  during: fc.array(step, { maxLength: 12 }),
  details: fc.boolean(),
});

/** The fields that a list has, also those that the specification does not name. */
const listed = {
  product: [
    "reference",
    "name",
    "status",
    "availableQuantity",
    "layersModified",
    "printModified",
    "legacyItemSKU",
    "hue",
  ],
  item: ["reference", "sku", "logicalQuantity", "physicalQuantity", "products", "hue"],
};
const same = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);
const pick = (entry: object, fields: readonly string[]): Wire =>
  Object.fromEntries(Object.entries(entry).filter(([name]) => fields.includes(name))) as Wire;

/** A service whose list changes, and every version of every entry that it had. */
class World {
  readonly list: ChangingList;
  readonly versions = new Set<string>();
  readonly #make: (id: string, fields?: object) => Wire;
  readonly #changes: (value: number) => readonly object[];
  #made = 0;

  constructor(
    make: (id: string, fields?: object) => Wire,
    changes: (value: number) => readonly object[],
    count: number,
    pageSize: number,
  ) {
    this.#make = make;
    this.#changes = changes;
    this.list = new ChangingList([], pageSize);
    for (let index = 0; index < count; index++) this.#insert(0);
    this.#record();
  }

  happen({ kind, place, value }: Step): void {
    const { entries } = this.list;
    const at = entries[place % Math.max(1, entries.length)];
    if (kind === "insert") this.#insert(place % (entries.length + 1));
    else if (at !== undefined && kind === "remove") this.list.remove(at.reference);
    else if (at !== undefined && kind === "change")
      this.list.update(at.reference, this.#changes(value)[place % 3] ?? {});
    else if (at !== undefined && kind === "move") {
      const others = entries.filter((one) => one !== at);
      this.list.entries = others.toSpliced((place + value * 3) % entries.length, 0, at);
    }
    this.#record();
  }

  #insert(at: number): void {
    this.#made += 1;
    this.list.entries = this.list.entries.toSpliced(at, 0, this.#make(String(this.#made), { hue: 0 }));
  }

  #record(): void {
    for (const entry of this.list.entries) this.versions.add(JSON.stringify(entry));
  }
}

/** What a partner stores: it applies exactly what each result says. */
class Mirror {
  readonly stored = new Map<string, Wire>();
  readonly #fields: readonly string[];

  constructor(fields: readonly string[]) {
    this.#fields = fields;
  }

  /** Applies a result. Fails if it contains something that did not happen. */
  apply({ list, versions }: World, changes: ListChanges<Product> | ListChanges<WarehouseItem>, details: boolean): void {
    for (const { current } of changes.added) {
      expect(this.stored.has(current.reference)).toBe(false);
      expect(versions).toContain(JSON.stringify(pick(current, this.#fields)));
      this.stored.set(current.reference, pick(current, this.#fields));
    }
    for (const { current, fields, previous } of changes.changed) {
      const old = this.stored.get(current.reference);
      if (old === undefined) expect.fail("changed before it was added");
      expect(versions).toContain(JSON.stringify(pick(current, this.#fields)));
      const differs = (name: string) => !same(Reflect.get(current, name), old[name]);
      // Unknown fields of details are not compared: a call may report such a change after it has handed over the new value.
      expect(fields.filter((name) => !differs(name) && !(details && name === "hue"))).toEqual([]);
      expect(
        this.#fields.filter((name) => name !== "hue" && differs(name) && !(fields as readonly string[]).includes(name)),
      ).toEqual([]);
      expect(fields.length).toBeGreaterThan(0);
      for (const [name, value] of Object.entries(previous)) if (name !== "hue") expect(value).toEqual(old[name]);
      this.stored.set(current.reference, { ...old, ...pick(current, fields) });
    }
    const present = new Set(list.entries.map(({ reference }) => reference));
    for (const { previous } of changes.removed) {
      const { reference } = previous;
      // A removed entry never comes back.
      expect(present).not.toContain(reference);
      expect(this.stored.delete(reference)).toBe(true);
    }
  }

  expectEqual({ list }: World): void {
    const sorted = (entries: Iterable<Wire>) =>
      [...entries]
        .map((entry) => this.#fields.map((name) => entry[name]))
        .sort((a, b) => (String(a[0]) < String(b[0]) ? -1 : 1));
    expect(sorted(this.stored.values())).toEqual(sorted(list.entries));
  }
}

type Course = typeof course extends fc.Arbitrary<infer Value> ? Value : never;
type Call = (options: ProductChangesOptions) => Promise<ListChanges<Product> | ListChanges<WarehouseItem>>;

/** Reads a quiet list, a list that changes meanwhile, and a quiet list again, and applies each result. */
async function follow(world: World, fields: readonly string[], given: Course, call: Call) {
  const { list } = world;
  const { details } = given;
  const mirror = new Mirror(fields);
  const first = await call({ details });
  mirror.apply(world, first, details);
  mirror.expectEqual(world);

  for (const one of given.before) world.happen(one);
  const begun = list.requests.length;
  list.meanwhile = (request) => {
    for (const one of given.during) if (one.request === request - begun) world.happen(one);
  };
  const stored = (snapshot: unknown) => JSON.parse(JSON.stringify(snapshot));
  const shifting = await call({ details, since: stored(first.snapshot) });
  mirror.apply(world, shifting, details);

  list.meanwhile = () => undefined;
  const quiet = await call({ details, since: stored(shifting.snapshot) });
  mirror.apply(world, quiet, details);
  mirror.expectEqual(world);
  const last = await call({ details, since: stored(quiet.snapshot) });
  expect([last.added, last.changed, last.removed]).toEqual([[], [], []]);
}

const runs = 150;

describe("a list whose pages shift while it is read", () => {
  it("of products loses no change and invents none, when products are added, removed, changed and moved", async () => {
    const changes = (value: number) => [{ status: `stage ${value}` }, { availableQuantity: value }, { hue: value }];
    const property = fc.asyncProperty(course, (given) => {
      const world = new World(product, changes, given.count, given.pageSize);
      const partner = world.list.connect();
      return follow(world, listed.product, given, (options) => partner.catalog.products.changes(options));
    });
    await fc.assert(property, { numRuns: runs });
  });

  it("of items loses no change and invents none, when items are added, removed and changed (order is fixed, 4.11)", async () => {
    const changes = (value: number) => [{ logicalQuantity: value }, { products: [value] }, { hue: value }];
    const fixed = course.map((given) => ({
      ...given,
      details: false,
      during: given.during.filter(({ kind }) => kind !== "move"),
    }));
    const property = fc.asyncProperty(fixed, (given) => {
      const world = new World(item, changes, given.count, given.pageSize);
      const partner = world.list.connect();
      const call: Call = ({ since }) => partner.warehouse.items.changes({ since: since as never });
      return follow(world, listed.item, given, call);
    });
    await fc.assert(property, { numRuns: runs });
  });
});
