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
});
