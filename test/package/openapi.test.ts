import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Validator } from "@seriousme/openapi-schema-validator";
import { describe, expect, it } from "vitest";
import { endpoints } from "../support/endpoints.ts";
import { root } from "./tarball.ts";

interface Operation {
  readonly operationId: string;
  readonly "x-repeat": string;
  readonly responses: Readonly<Record<string, unknown>>;
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
