import { describe, expect, it } from "vitest";
import { unknownReference as unknown } from "../support.ts";
import { type Broken, issuesOf } from "./broken-world.ts";
import { busy } from "./busy.ts";

const last = (list: Broken[]): Broken => list.at(-1);

it("the world of these tests is loaded without a change", async () => {
  const { emulator } = await busy();
  const before = emulator.world();
  emulator.load(structuredClone(before));
  expect(emulator.world()).toEqual(before);
});

describe("a record without the form of its kind is refused, with its path", () => {
  it.each<[string, (world: Broken, demo: Broken) => void, RegExp]>([
    [
      "a claim with only a reference",
      (_, demo) => demo.claims.splice(0, 1, { reference: demo.claims[0].reference }),
      /^world\.organizations\.0\.claims\.0\.orderReference: /,
    ],
    [
      "a field of another type",
      (_, demo) => Object.assign(demo.orders[0].lines[0], { quantity: "1" }),
      /^world\.organizations\.0\.orders\.0\.lines\.0\.quantity: /,
    ],
    [
      "an unknown field",
      (_, demo) => Object.assign(demo.orders[1], { colour: "red" }),
      /^world\.organizations\.0\.orders\.1\.colour: /,
    ],
    [
      "a reference of another kind",
      (_, demo) => Object.assign(demo.shipments[0], { reference: demo.orders[0].reference }),
      /\.shipments\.0\.reference: .*Shipment/,
    ],
    [
      "a time without a date",
      (world) => Object.assign(world.clock, { time: 1e300, speed: 0 }),
      /^world\.clock\.time: /,
    ],
    [
      "a time of a record without a date",
      (_, demo) => Object.assign(demo.claims[0], { created: -1e17 }),
      /^world\.organizations\.0\.claims\.0\.created: /,
    ],
    [
      "an unknown task",
      (world) => world.tasks.push({ at: 0, task: { kind: "explode" } }),
      /^world\.tasks\.\d+\.task\.kind: /,
    ],
    [
      "evidence that is not base64",
      (_, demo) => Object.assign(demo.evidence[0], { content: "?" }),
      /^world\.organizations\.0\.evidence\.0\.content: /,
    ],
    [
      "an invalid callback URL",
      (_, demo) => Object.assign(demo.stores[0], { callbackUrl: "shop" }),
      /^world\.organizations\.0\.stores\.0\.callbackUrl: /,
    ],
    [
      "a negative level of a bucket",
      (_, demo) => Object.assign(demo.rateLimits, { uploads: -5 }),
      /^world\.organizations\.0\.rateLimits\.uploads: /,
    ],
  ])("%s", async (_case, change, issue) => {
    expect(await issuesOf(change)).toContainEqual(expect.stringMatching(issue));
  });
});

describe("orders, shipments and addresses that contradict each other are refused", () => {
  it.each<[string, (world: Broken, demo: Broken) => void, RegExp]>([
    [
      "an unknown store",
      (_, { orders }) => Object.assign(last(orders), { storeReference: unknown("Store") }),
      /^world\.organizations\.0\.orders\.2\.storeReference: Order_\w+ names Store_0+, which the world does not have/,
    ],
    [
      "an unknown address",
      (_, { orders }) => Object.assign(last(orders), { dropshipAddressReference: unknown("Address") }),
      /names Address_0+/,
    ],
    [
      "a dropship order without address",
      (_, { orders }) => Object.assign(last(orders), { dropshipAddressReference: null }),
      /is a dropship order without address/,
    ],
    [
      "an unknown product",
      (_, { orders }) => Object.assign(last(orders).lines[0], { productReference: unknown("Product") }),
      /orders\.2\.lines\.0\.productReference: .* names Product_0+/,
    ],
    [
      "a printed product without image",
      (_, { orders }) => Object.assign(last(orders).lines[0], { imageReference: null }),
      /lacks the image of a printed product/,
    ],
    [
      "lines that are not counted from 1",
      (_, { orders }) => Object.assign(orders[0].lines[0], { index: 2 }),
      /has the index 2 instead of 1/,
    ],
    [
      "more shipped than ordered",
      (_, { orders }) => Object.assign(last(orders).lines[0], { quantity: 1 }),
      /has 2 shipped and 0 canceled of 1/,
    ],
    [
      "shipped items without a shipment",
      (_, { orders }) => Object.assign(orders[0].lines[0], { shippedQuantity: 1 }),
      /has 1 shipped in line 1, but the shipments have 0/,
    ],
    [
      "a postponed step of another order",
      (_, { orders }) =>
        Object.assign(orders[0], { postponed: { kind: "startProduction", order: orders[1].reference } }),
      /orders\.0\.postponed: /,
    ],
    [
      "a shipment of an unknown order",
      (_, { shipments }) => Object.assign(shipments[0].parcels[0], { orderReference: unknown("Order") }),
      /shipments\.0\.parcels\.0\.orderReference: .* names Order_0+/,
    ],
    [
      "a shipment of an unknown line",
      (_, { shipments }) => Object.assign(shipments[0].parcels[0].lines[0], { index: 9 }),
      /has line 9, which the order has not/,
    ],
    [
      "another number of uses",
      (_, { addresses }) => Object.assign(last(addresses), { uses: 7 }),
      /has `uses` 7, but 2 orders and shipments use it/,
    ],
    ["an order that occurs twice", (_, { orders }) => orders.push(orders[0]), /occurs more than once/],
    [
      "an order of two organizations",
      ({ organizations }, { orders }) => organizations[1].orders.push(orders[0]),
      /^world\.organizations\.1\.orders\.0: Order_\w+ occurs more than once/,
    ],
    [
      "a name of two organizations",
      ({ organizations }) => Object.assign(organizations[1], { name: "Demo Prints" }),
      /^world\.organizations\.1\.name: /,
    ],
    [
      "a key of two organizations",
      ({ organizations }) => Object.assign(organizations[1].keys[0], { secretKey: "emulator-secret-key" }),
      /^world\.organizations\.1\.keys\.secretKey: has a value that occurs more than once/,
    ],
    [
      "a permission for an unknown call",
      (_, { keys }) => Object.assign(keys[0], { permissions: ["orders.eat"] }),
      /keys\.0\.permissions: .* orders\.eat/,
    ],
    [
      "a product that is not in the catalog",
      ({ products }) => Object.assign(products[0], { reference: unknown("Product") }),
      /^world\.products\.0: Product_0+ is not in the catalog/,
    ],
    ["a product that is missing", ({ products }) => products.pop(), /^world\.products: lacks Product_/],
    ["an item that is missing", ({ items }) => items.pop(), /^world\.items: lacks Item_/],
    [
      "more tokens than the quota",
      (_, { rateLimits }) => Object.assign(rateLimits, { default: 4000 }),
      /rateLimits\.default: has 4000 of 3000 tokens/,
    ],
    [
      "more rendertokens than the limit",
      (_, { rendertokens }) => Object.assign(rendertokens, { used: 4000 }),
      /rendertokens\.used: is 4000 of 1000/,
    ],
  ])("%s", async (_case, change, issue) => {
    expect(await issuesOf(change)).toContainEqual(expect.stringMatching(issue));
  });
});

it("all issues are reported at once, and the message lists the first 20", async () => {
  const { emulator } = await busy();
  const world = structuredClone(emulator.world()) as Broken;
  for (const product of world.products) product.reference = unknown("Product");
  world.references.Order = 0;
  expect(() => emulator.load(world)).toThrow(
    /^The world contradicts itself\.(\n {2}world\.\S+: .+){20}\n {2}and \d+ more$/,
  );
});
