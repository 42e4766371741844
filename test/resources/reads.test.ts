import { ResponseValidationError } from "pod-partner";
import { describe, expect, it } from "vitest";
import { Paginator } from "../../src/pagination/paginator.ts";
import { pathWith, promised } from "../conformance/support/endpoints.ts";
import { type Variant, withField, withWrongType } from "../conformance/support/mutate.ts";
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
  ...["address", "claim.claimlines[].imageReference", "claim.comment", "claim.createdBy"],
  ...["order.dropshipAddressReference", "order.orderlines[].imageReference", "order.orderlines[].legacySku"],
  ...["organization", "product.availableQuantity", "product.layers", "product.layers.modified"],
  ...["product.layersModified", "product.print", "product.print.modified", "product.printModified"],
  ...["products[].availableQuantity", "products[].layersModified", "products[].printModified"],
  ...["render.completed", "render.media", "render.thumbhash", "render.thumbnail"],
  ...["shipment.carrier", "shipment.trackingNumber", "shipment.trackingUrl"],
  ...["stores[].integration", "stores[].legacyCode"],
];

/** `items[].products[]` for `items.0.products.1`. */
const fieldAt = (path: string): string => path.replace(/\.\d+/g, "[]");

const valueAt = (body: unknown, path: string): unknown =>
  path.split(".").reduce<unknown>((value, key) => Reflect.get(Object(value), key), body);

/** Values that a field cannot have: of another type, of another kind of reference, and a text that is no time. */
function* wrongValues(value: unknown): Generator<unknown> {
  yield typeof value === "object" && value !== null ? "text" : { wrong: "type" };
  if (typeof value === "string" && /^(?!Key_)[A-Z][a-z]+_[0-9a-z]{26}$/.test(value)) yield ref("Key");
  if (typeof value === "string" && /^\d{4}-\d\d-\d\dT/.test(value)) yield "next Monday";
}

/** Copies of a response that the client must refuse: a promised field is missing, or has a wrong value. */
const refused = (response: object): readonly Variant[] =>
  withWrongType({ ...response })
    .map(([path]) => path)
    .filter((path) => !anyType.includes(fieldAt(path)))
    .flatMap((path) => {
      const values = [...wrongValues(valueAt(response, path))];
      const all = optional.includes(fieldAt(path)) ? values : [undefined, ...values];
      return all.map((value) => [path, withField(response, path, value)] as const);
    });

/** Each endpoint whose response the specification shows, with its method and the method's arguments. */
const reads = promised.flatMap(([, specified, { example }]) =>
  endpoints
    .filter(({ method, path }) => method === specified.method && path === specified.path)
    .map((endpoint) => {
      const references = kindsIn(endpoint).map((kind) => ref(kind));
      const path = pathWith(specified, (kind) => references.find((one) => one.startsWith(`${kind}_`)) ?? "");
      return [endpoint.call, references, path, Object(example)] as const;
    }),
);

describe("a method that reads what the specification shows", () => {
  const { context, exchange } = useExchange();

  const call = async (name: string, references: readonly string[]): Promise<unknown> => {
    const result = methodOf(context.partner, name)(...references);
    return result instanceof Paginator ? result.toArray() : result;
  };

  it.each(reads)(
    "%s sends one request, and returns the content of the response",
    async (name, references, path, body) => {
      const result = await exchange(() => call(name, references), { line: `GET ${path}` }, { body });
      expect(result).toStrictEqual(Object.values(body)[0]);
    },
  );

  it.each(reads)(
    "%s refuses a response without a promised field, or with a wrong value in it",
    async (name, references, _, response) => {
      for (const [path, body] of refused(response)) {
        context.service.reset();
        context.service.respond({ body });
        const error = await rejection(call(name, references));
        if (!ResponseValidationError.isInstance(error)) throw error;
        // The wrong value of a field that is null is an object: its own fields can be the fault.
        expect(error.issues.map((issue) => issue.path.join(".").slice(0, path.length))).toContain(path);
      }
    },
  );
});
