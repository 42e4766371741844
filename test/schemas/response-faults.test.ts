import { PodPartner, ResponseValidationError } from "pod-partner";
import { describe, expect, it } from "vitest";
import { Paginator } from "../../src/pagination/paginator.ts";
import { nameOf, promised } from "../conformance/support/endpoints.ts";
import { withField, withWrongType } from "../conformance/support/mutate.ts";
import { endpoints } from "../support/endpoints.ts";
import { rejection } from "../support/exchange.ts";
import { argumentsOf, kindsIn, methodOf } from "../support/methods.ts";
import { secretKey } from "../support/partner.ts";
import { ref } from "../support/references.ts";

/**
 * What a decision or money hangs on, by hand from the specification: references, quantities and indices, prices and tokens, strict enums,
 * the status of claims and renders, and the form of the body around them. A fault in any other field is only reported.
 */
const essential = [
  // The field of the content, the records of a list, and its cursor.
  ...["accounts", "accounts[]", "accounts[].reference", "brands", "brands[]", "brands[].reference"],
  ...["stores", "stores[]", "stores[].reference", "organization", "address", "nextCursor"],
  ...["products", "products[]", "products[].reference", "products[].availableQuantity"],
  ...["product", "product.reference", "product.availableQuantity"],
  ...["packagings", "packagings[]", "packagings[].reference"],
  ...["productgroups", "productgroups[]", "productgroups[].reference"],
  ...["items", "items[]", "items[].reference", "items[].logicalQuantity", "items[].physicalQuantity"],
  ...["images", "images[]", "images[].reference", "image", "image.reference", "evidence", "evidence.reference"],
  ...["scenes", "scenes[]", "scenes[].reference", "scene", "scene.reference"],
  ...["scene.compatibleProductgroups[]", "scene.compatibleProductgroups[].reference"],
  ...["scene.perspectives[]", "scene.perspectives[].reference"],
  ...["perspectives", "perspectives[]", "perspectives[].reference", "perspective", "perspective.reference"],
  ...["perspective.scenes[]", "perspective.scenes[].reference"],
  ...["composition", "composition.reference", "composition.tokenCost"],
  ...["render", "render.reference", "render.compositionReference", "render.imageReference", "render.status"],
  ...["rendertokens", "rendertokens.used", "rendertokens.limit", "rendertokens.remaining"],
  ...["orders", "orders[]", "orders[].reference", "order", "order.reference", "order.dropshipAddressReference"],
  ...["order.orderlines", "order.orderlines[]", "order.orderlines[].index", "order.orderlines[].quantity"],
  ...["order.orderlines[].canceledQuantity", "order.orderlines[].shippedQuantity"],
  ...["order.orderlines[].productReference", "order.orderlines[].imageReference"],
  ...["shippingOptions", "shippingOptions[]", "shippingOptions[].level", "shippingOptions[].price"],
  ...["shipment", "shipment.reference", "productReference", "orderReference"],
  ...["claimcategories", "claimcategories[]", "claimcategories[].reference"],
  ...["claims", "claims[]", "claims[].reference", "claims[].orderReference", "claims[].status"],
  ...["claims[].claimcategories[]", "claims[].claimcategories[].reference"],
  ...["claim", "claim.reference", "claim.orderReference", "claim.shipmentReference", "claim.status"],
  ...["claim.claimlines", "claim.claimlines[]", "claim.claimlines[].productReference"],
  ...["claim.claimlines[].orderlineIndex", "claim.claimlines[].quantity", "claim.claimlines[].imageReference"],
  ...["claim.claimlines[].claimcategory", "claim.claimlines[].claimcategory.reference"],
];

/** Essential fields that may be missing or null: the specification does not promise that each record has them. */
const mayBeMissing = [
  ...["products[].availableQuantity", "product.availableQuantity", "order.dropshipAddressReference"],
  ...["order.orderlines[].imageReference", "claim.claimlines[].imageReference"],
];

/** Fields whose names are assumed: a response without the field is taken as the record itself. */
const wholeBody = ["organization", "address"];

/** Responses of the endpoints that take a body or a query, by their name. */
const others: Readonly<Record<string, object>> = {
  "POST /auth/validate": { message: "valid" },
  "POST /images": { image: { reference: ref("Image") } },
  "POST /evidence": { evidence: { reference: ref("Evidence") } },
  "POST /renders": { render: { reference: ref("Render") } },
  "POST /orders": { order: { reference: ref("Order") } },
  "POST /claim-package-missing": { claim: { reference: ref("Claim") } },
  "POST /claim-item-issues": { claim: { reference: ref("Claim") } },
  "POST /quote": { shippingOptions: [{ level: "basic", price: 495 }] },
  "GET /lookup-composition": { composition: { reference: ref("Composition"), tokenCost: 3 } },
  "GET /utilities/lookup-product-reference-by-legacy-sku": { productReference: ref("Product") },
  "GET /utilities/lookup-order-reference-by-custom-identifier": { orderReference: ref("Order") },
};

const fieldAt = (path: string): string => path.replace(/\.\d+/g, "[]");
const valueAt = (body: unknown, path: string): unknown =>
  path.split(".").reduce<unknown>((value, key) => Reflect.get(Object(value), key), body);

const rows = endpoints.flatMap((endpoint) => {
  const shown = promised.find(([, specified]) => nameOf(specified) === nameOf(endpoint));
  const body = others[nameOf(endpoint)] ?? (shown && Object(shown[2].example));
  return body === undefined ? [] : [[endpoint.call, nameOf(endpoint), body as object] as const];
});

describe("a fault of a response", () => {
  /** Calls a method of a new client, and returns what it reports and its result. */
  const call = async (name: string, body: unknown, mode?: "report" | "throw") => {
    const reports: (readonly [endpoint: string, path: string, returned: boolean])[] = [];
    const partner = new PodPartner({
      baseUrl: "https://partner.test/v2",
      secretKey,
      fetch: async () => Response.json(body),
      responses: mode,
      retry: { retries: 0 },
      hooks: {
        onInvalidResponse: ({ endpoint, issues, returned }) => {
          for (const { path } of issues) reports.push([endpoint, path.join("."), returned]);
        },
      },
    });
    const endpoint = endpoints.find((one) => one.call === name);
    const [given] = argumentsOf(name) ?? [kindsIn(endpoint ?? { path: "" }).map((kind) => ref(kind))];
    const result = methodOf(partner, name)(...given);
    const content = result instanceof Paginator ? result.toArray() : Promise.resolve(result);
    return { reports, content };
  };

  it("covers all endpoints with JSON", () => {
    const without = endpoints.filter(({ call: name }) => !rows.some(([one]) => one === name));
    expect(without.every(({ response: { kind } }) => kind === "binary" || kind === "empty")).toBe(true);
    expect(rows.length).toBeGreaterThanOrEqual(30);
  });

  it.each(rows)(
    "%s: is an error where it is essential, and reported and returned elsewhere",
    async (name, line, body) => {
      for (const [path] of withWrongType({ ...body })) {
        const field = fieldAt(path);
        const value = valueAt(body, path);
        for (const wrong of [
          undefined,
          null,
          typeof value === "object" && value !== null ? "text" : { wrong: "type" },
        ]) {
          if (wrong == null && (mayBeMissing.includes(field) || value == null)) continue;
          if (wrong === undefined && wholeBody.includes(field)) continue;
          // An object in place of null is a decision, whose quantities are essential.
          if (wrong !== undefined && field === "claim.claimlines[].decision") continue;
          const faulty = withField(body, path, wrong);
          const what = `${path}: ${JSON.stringify(wrong)}`;
          const strict = await call(name, faulty, "throw");
          const refused = await strict.content.then(
            () => undefined,
            (error: unknown) => error,
          );
          const { reports, content } = await call(name, faulty);
          if (essential.includes(field)) {
            const isLookup = name === "orders.lookup" && wrong == null;
            const error = isLookup ? undefined : await rejection(content);
            if (isLookup) await rejection(content);
            else expect([what, ResponseValidationError.isInstance(error)]).toEqual([what, true]);
            if (!isLookup) expect([what, reports.every(([, , returned]) => !returned)]).toEqual([what, true]);
            continue;
          }
          const result = await content.catch((error: unknown) => expect.fail(`${what}: ${error}`));
          // Missing or null is no fault where the specification promises nothing.
          expect([what, refused === undefined ? 0 : 1]).toEqual([what, reports.length === 0 ? 0 : 1]);
          if (refused !== undefined) {
            expect([what, ResponseValidationError.isInstance(refused)]).toEqual([what, true]);
            expect(reports.map(([endpoint, , returned]) => [endpoint, returned])).toContainEqual([line, true]);
          }
          const [wire] = Object.values(JSON.parse(JSON.stringify(faulty)));
          if (name !== "auth.validate") expect([what, result]).toEqual([what, wire]);
        }
      }
    },
  );

  it("is reported once for each endpoint and path, also of 10,000 entries on many pages", async () => {
    const reports: unknown[] = [];
    const logged: unknown[] = [];
    const pages: object[] = [];
    const partner = new PodPartner({
      baseUrl: "https://partner.test/v2",
      secretKey,
      fetch: async () => Response.json(pages.shift()),
      hooks: { onInvalidResponse: ({ issues }) => reports.push(issues.map(({ path }) => path)) },
      logger: { warn: (message) => logged.push(message) },
    });
    const entry = (index: number) => ({
      reference: `Product_${String(index).padStart(26, "0")}`,
      status: "launched",
      legacyItemSKU: "S",
    });
    for (let page = 0; page < 10; page += 1) {
      const products = Array.from({ length: 1_000 }, (_, index) => entry(page * 1_000 + index));
      pages.push({ products, nextCursor: page < 9 ? `c${page}` : null });
    }
    expect(await partner.catalog.products.list().toArray()).toHaveLength(10_000);
    expect(reports).toEqual([[["products", 0, "name"]]]);
    expect(logged).toHaveLength(1);
  });

  it("hides no essential one, however many others come before it", async () => {
    const products: object[] = Array.from({ length: 500 }, (_, index) => ({
      reference: `Product_${String(index).padStart(26, "0")}`,
    }));
    const { content } = await call("catalog.products.list", {
      products: [...products, { name: "no reference" }],
      nextCursor: null,
    });
    const error = await rejection(content);
    expect(error).toMatchObject({
      name: "ResponseValidationError",
      issues: [{ path: ["products", 500, "reference"] }],
    });
  });
});
