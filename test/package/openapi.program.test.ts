import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Validator } from "@seriousme/openapi-schema-validator";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, it } from "vitest";
import { nameOf, endpoints as specified } from "../conformance/support/endpoints.ts";
import { endpoints } from "../support/endpoints.ts";
import { root } from "./tarball.ts";

interface Message {
  readonly content?: Readonly<Record<string, { readonly schema: object; readonly example?: unknown }>>;
}

interface Operation {
  readonly operationId: string;
  readonly "x-repeat": string;
  readonly requestBody?: Message;
  readonly responses: Readonly<Record<string, Message>>;
}

const document: {
  readonly openapi: string;
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
} = JSON.parse(readFileSync(join(root, "dist/openapi.json"), "utf8"));
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ name: `${method.toUpperCase()} ${path}`, ...operation })),
);

describe("pod-partner/openapi.json", () => {
  it("is a valid OpenAPI 3.1 document", async () => {
    expect(await new Validator().validate(structuredClone(document))).toEqual({ valid: true });
    expect(document.openapi).toMatch(/^3\.1\./);
  });

  it("has each endpoint once, with what may be repeated", () => {
    const described = Object.fromEntries(operations.map(({ name, "x-repeat": repeat }) => [name, repeat]));
    const expected = endpoints.filter(({ path }) => path.startsWith("/"));
    expect(described).toEqual(
      Object.fromEntries(expected.map(({ method, path, repeat }) => [`${method} ${path}`, repeat])),
    );
    expect(new Set(operations.map(({ operationId }) => operationId)).size).toBe(operations.length);
  });

  it("has an example of each JSON body, which fits its schema, but for records that the emulator does not have", () => {
    const without = specified.filter(({ notInEmulator }) => notInEmulator).map(nameOf);
    const ajv = new Ajv2020({ strict: false, allErrors: true });
    ajv.addSchema(document, "openapi");
    const unfit = operations.flatMap(({ name, requestBody, responses }) =>
      [requestBody, responses["200"]].flatMap((message) => {
        const { schema, example } = message?.content?.["application/json"] ?? {};
        if (schema === undefined || (example === undefined && without.includes(name))) return [];
        const rooted = JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"openapi#/'));
        return ajv.validate(rooted, example) ? [] : [`${name}: ${ajv.errorsText()}`];
      }),
    );
    expect(unfit).toEqual([]);
    const { post } = document.paths["/orders"] ?? {};
    expect(post?.requestBody?.content?.["application/json"]?.example).toMatchObject({
      order: { customIdentifier: "shop-2", orderlines: [{ quantity: 2 }] },
    });
  });

  // By hand, from the specification.
  it("describes an order as the specification does", () => {
    const { post: create } = document.paths["/orders"] ?? {};
    expect(create).toMatchObject({
      operationId: "ordersCreate",
      "x-repeat": "recoverable",
      "x-rate-limit-policies": ["default"],
      requestBody: {
        required: true,
        content: {
          "application/json": {
            schema: {
              required: ["order"],
              additionalProperties: false,
              properties: {
                order: {
                  additionalProperties: false,
                  properties: {
                    storeReference: { $ref: "#/components/schemas/StoreReference" },
                    shippingKind: { enum: ["dropship", "combined"] },
                    orderlines: { type: "array", items: { properties: { quantity: { type: "integer", minimum: 1 } } } },
                  },
                },
              },
            },
          },
        },
      },
    });
    expect(Object.keys(create?.responses ?? {})).toEqual(["200", "429", "4XX"]);
    const { get: media } = document.paths["/renders/{renderReference}/media"] ?? {};
    expect(Object.keys(media?.responses ?? {})).toEqual(["200", "202", "304", "429", "4XX"]);
  });

  describe("has the rules of a destination, as the specification does:", () => {
    const ajv = new Ajv2020({ strict: false, allErrors: true });
    ajv.addSchema(document, "openapi");
    const validatorOf = (method: string, path: string) => {
      const { schema = {} } = document.paths[path]?.[method]?.requestBody?.content?.["application/json"] ?? {};
      return ajv.compile(JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"openapi#/')));
    };
    const takes = {
      order: validatorOf("post", "/orders"),
      dropshipAddress: validatorOf("put", "/orders/{orderReference}/dropship-address"),
      quote: validatorOf("post", "/quote"),
    };
    const line = { productReference: `Product_${"0".repeat(26)}`, quantity: 1 };
    const common = { storeReference: `Store_${"0".repeat(26)}`, orderlines: [line] };
    const address = { countryCode: "NL", email: "ada@example.com" };
    const dropship = (dropshipAddress: object) => ({ ...common, shippingKind: "dropship", dropshipAddress });
    const american = { ...address, countryCode: "US" };
    const italian = { ...address, countryCode: "IT" };

    // With the bodies that take the address: an order, a new address, a quote.
    it.each([
      ["a complete address", address, [true, true, true]],
      ["no email", { countryCode: "NL" }, [false, false, true]],
      ["an empty email", { ...address, email: "" }, [false, false, true]],
      ["a blank email", { ...address, email: " " }, [false, false, true]],
      ["no state in the US", american, [false, false, true]],
      ["an empty state in Italy", { ...italian, state: "" }, [false, false, true]],
      ["a blank state in Italy", { ...italian, state: " " }, [false, false, true]],
      ["a state in the US", { ...american, state: "CA" }, [true, true, true]],
      ["a state in Italy", { ...italian, state: "MI" }, [true, true, true]],
      ["no country", { email: "ada@example.com" }, [false, false, false]],
      ["a country in small letters", { ...address, countryCode: "nl" }, [false, false, false]],
      ["an unknown field", { ...address, street: "Dam" }, [false, false, false]],
    ] as const)("%s", (_, given, [inOrder, alone, inQuote]) => {
      expect(takes.order({ order: dropship(given) })).toBe(inOrder);
      expect(takes.dropshipAddress({ dropshipAddress: given })).toBe(alone);
      expect(takes.quote({ quote: dropship(given) })).toBe(inQuote);
    });

    it.each([
      ["dropship without an address", { ...common, shippingKind: "dropship" }, false],
      ["combined", { ...common, shippingKind: "combined" }, true],
      ["combined with an address", { ...dropship(address), shippingKind: "combined" }, false],
      [
        "combined with a level",
        { ...common, shippingKind: "combined", dropshipMinimalShippingLevel: "tracked" },
        false,
      ],
      ["dropship with a level", { ...dropship(address), dropshipMinimalShippingLevel: "tracked" }, true],
      ["no shipping kind", { ...common, dropshipAddress: address }, false],
    ] as const)("%s", (_, given, isTaken) => {
      expect(takes.order({ order: given })).toBe(isTaken);
      expect(takes.quote({ quote: given })).toBe(isTaken);
    });
  });
});
