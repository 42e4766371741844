import { expect, it } from "vitest";
import { createOrder, getOrder, quoteOrder } from "../../src/resources/orders/orders.endpoints.ts";
import { check } from "../../src/schemas/check.ts";
import type { Schema } from "../../src/schemas/shape.ts";
import { combinedOrder, dropshipOrder } from "../support/orders.ts";

/** More checks than the first ones, which zod interprets. It compiles the schema for the later ones. */
const checks = 40;

const schemaOf = ({ request }: typeof createOrder | typeof quoteOrder): Schema => {
  if (request.kind !== "json") throw new Error("the endpoint has no JSON body");
  return request.schema;
};
const orderSchema = (): Schema => {
  if (getOrder.response.kind !== "field") throw new Error("the order is in a field");
  return getOrder.response.schema;
};

const inherited = Object.create({ quantity: 1 });
const [line] = dropshipOrder.orderlines;
const throwing = {
  get storeReference() {
    throw new Error("a getter that throws");
  },
};

const inputs: readonly [string, unknown][] = [
  ["a combined order", combinedOrder],
  ["a dropship order", dropshipOrder],
  ["an order with undefined fields", { ...dropshipOrder, customIdentifier: undefined, dropshipAddress: undefined }],
  ["an order with unknown fields", { ...combinedOrder, notes: 1, orderlines: [{ ...line, colour: "red" }] }],
  ["an order with the field __proto__", JSON.parse('{"__proto__":{"a":1},"orderlines":[{"__proto__":1}]}')],
  ["an order with inherited fields", { ...combinedOrder, orderlines: [inherited] }],
  ["an order with a getter that throws", throwing],
  ["no object", [1, "a", null]],
];

it.each(inputs)("%s has the same result and the same order of fields in every check", (_, value) => {
  for (const schema of [schemaOf(createOrder), schemaOf(quoteOrder), orderSchema()]) {
    // A schema of its own, so that the other cases do not count.
    const own: Schema = () => schema();
    const results = Array.from({ length: checks }, () => JSON.stringify(check(own, value, ["order"])));
    expect(new Set(results).size).toBe(1);
  }
});
