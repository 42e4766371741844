import { ResponseValidationError } from "pod-partner";
import { describe, expect, it } from "vitest";
import { Paginator } from "../../src/pagination/paginator.ts";
import { nameOf, pathWith, promised } from "../conformance/support/endpoints.ts";
import { type Variant, withField, withUnknownField, withWrongType } from "../conformance/support/mutate.ts";
import { integer, text } from "../conformance/support/shapes.ts";
import { endpoints } from "../support/endpoints.ts";
import { rejection, useExchange } from "../support/exchange.ts";
import { kindsIn, methodOf } from "../support/methods.ts";
import { ref } from "../support/references.ts";

/** Fields that can have any type: the specification does not show their shapes. */
const anyType = [
  "address.reference",
  "items[].products[]",
  "items[].products[].reference",
  "product.media[]",
  "shipment.orders[]",
  "shipment.orders[].reference",
];

/** Fields that can be missing: the specification does not show that a record has them of every kind and in every state. */
const optional = [
  ...["address", "claim.claimlines[].imageReference", "claim.comment", "claim.createdBy", "claim.evidenceUrls"],
  ...["order.dropshipAddressReference", "order.orderlines[].imageReference", "order.orderlines[].legacySku"],
  ...["organization", "product.availableQuantity", "product.layers", "product.layers.modified"],
  ...["product.layersModified", "product.print", "product.print.modified", "product.printModified"],
  ...["products[].availableQuantity", "products[].layersModified", "products[].printModified"],
  ...["render.completed", "render.media", "render.thumbhash", "render.thumbnail"],
  ...["shipment.carrier", "shipment.trackingNumber", "shipment.trackingUrl"],
  ...["stores[].integration", "stores[].legacyCode"],
];

/** Numbers that can be anything: the client has no need of a whole one, or of one above 0. */
const anyNumber = [
  ...["items[].logicalQuantity", "items[].physicalQuantity", "product.availableQuantity", "product.weightGrams"],
  ...["products[].availableQuantity", "render.media.size", "render.thumbnail.size"],
];

/** Numbers that are counted from 1. */
const fromOne = ["claim.claimlines[].orderlineIndex", "order.orderlines[].index"];

const valueAt = (body: unknown, path: string): unknown =>
  path.split(".").reduce<unknown>((value, key) => Reflect.get(Object(value), key), body);

/** The paths of all fields and entries of a response: `items.0.products`. */
const pathsOf = (response: object): readonly string[] => withWrongType({ ...response }).map(([path]) => path);

/** `items[].products` for `items.0.products`. */
const fieldAt = (path: string): string => path.replace(/\.\d+/g, "[]");

/** Fields that are always there, and can be null. */
const nullable = promised.flatMap(([, , shape]) => {
  const response = Object(shape.example);
  const canBeNull = (path: string) => shape(withField(response, path, null), "").length === 0;
  return pathsOf(response).filter(canBeNull).map(fieldAt);
});

/** Copies of a response, each with another value of one field. */
const variants = (response: object, valuesOf: (field: string, value: unknown) => Iterable<unknown>): Variant[] =>
  pathsOf(response).flatMap((path) => {
    const values = [...valuesOf(fieldAt(path), valueAt(response, path))];
    return values.map((value) => [path, withField(response, path, value)] as const);
  });

/** What a field cannot have: nothing, null, another type, another kind of reference, a text that is no time, a fraction. */
function* refusedValues(field: string, value: unknown): Generator<unknown> {
  if (anyType.includes(field)) return;
  if (!optional.includes(field)) yield undefined;
  if (![...optional, ...nullable].includes(field) && value !== null) yield null;
  yield typeof value === "object" && value !== null ? "text" : { wrong: "type" };
  if (typeof value === "string" && /^(?!Key_)[A-Z][a-z]+_[0-9a-z]{26}$/.test(value)) yield ref("Key");
  if (typeof value === "string" && /^\d{4}-\d\d-\d\dT/.test(value)) yield "next Monday";
  if (value === integer.example && !anyNumber.includes(field)) yield 1.5;
  if (fromOne.includes(field)) yield 0;
}

/** What a field can have: what the lists above say, and an empty text, an empty list and 0, which the specification does not forbid. */
function* allowedValues(field: string, value: unknown): Generator<unknown> {
  // A response without such a field is the record itself.
  const isRecord = !field.includes(".");
  if (optional.includes(field) && !isRecord) yield* [undefined, null];
  if (nullable.includes(field)) yield null;
  if (anyType.includes(field)) yield "text";
  if (anyNumber.includes(field)) yield -1.5;
  if (Array.isArray(value)) yield [];
  if (value === text.example) yield "";
  if (value === integer.example && !fromOne.includes(field)) yield 0;
}

/** Each endpoint whose response the specification shows, with its method and the method's arguments. */
const reads = promised.map(([rule, specified, { example }]) => {
  const endpoint = endpoints.find((one) => nameOf(one) === nameOf(specified));
  if (endpoint === undefined) throw new Error(`The client has no method for ${rule}`);
  const references = kindsIn(endpoint).map((kind) => ref(kind));
  const path = pathWith(specified, (kind) => references.find((one) => one.startsWith(`${kind}_`)) ?? "");
  return [endpoint.call, references, path, Object(example)] as const;
});

describe("a method that reads what the specification shows", () => {
  const { context, exchange } = useExchange();

  const call = async (name: string, references: readonly string[]): Promise<unknown> => {
    const result = methodOf(context.partner, name)(...references);
    return result instanceof Paginator ? result.toArray() : result;
  };

  it("has no exception for a field that no response shows", () => {
    const fields = reads.flatMap(([, , , response]) => pathsOf(response).map(fieldAt));
    const exceptions = [...anyType, ...optional, ...anyNumber, ...fromOne];
    expect(exceptions.filter((field) => !fields.includes(field))).toEqual([]);
  });

  it.each(reads)(
    "%s sends one request, and returns the content of the response",
    async (name, references, path, body) => {
      const result = await exchange(() => call(name, references), { line: `GET ${path}` }, { body });
      expect(result).toStrictEqual(Object.values(body)[0]);
    },
  );

  it.each(reads)(
    "%s keeps unknown fields, and accepts each value that a field can have",
    async (name, references, _, response) => {
      for (const [path, body] of [...withUnknownField({ ...response }), ...variants(response, allowedValues)]) {
        context.service.respond({ body });
        const [content] = Object.values(JSON.parse(JSON.stringify(body)));
        expect([path, await call(name, references)]).toStrictEqual([path, content]);
      }
    },
  );

  it.each(reads)(
    "%s refuses a response without a promised field, or with a wrong value in it",
    async (name, references, _, response) => {
      for (const [path, body] of variants(response, refusedValues)) {
        context.service.reset();
        context.service.respond({ body });
        const error = await rejection(call(name, references));
        if (!ResponseValidationError.isInstance(error)) throw error;
        // The wrong value of a field that is null is an object: its own fields can be the fault.
        expect(error.issues.map((issue) => issue.path.join(".").slice(0, path.length))).toContain(path);
        expect(error.status).toBe(200);
        expect(context.service.requests).toHaveLength(1);
      }
    },
  );
});
