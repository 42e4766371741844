import * as z from "zod/mini";
import { errorCodes } from "../../errors/api.ts";
import type { Endpoint, ResponseShape } from "../../http/endpoint.ts";
import { referenceKinds } from "../../references/references.ts";
import { getLayerImage } from "../../resources/catalog/catalog.endpoints.ts";
import { downloadEvidence } from "../../resources/evidence/evidence.ts";
import { reference, type Schema } from "../../schemas/shape.ts";
import { controlRoot, uncachedJson } from "../base/messages.ts";
import type { Route } from "../http/route.ts";
import { allRoutes } from "../routes/table.ts";
import { emulatorAssumptions } from "../settings/assumed.ts";

/** The version of the specification. */
const specification = "2.7.0";

/** A part of the document. Its form is that of OpenAPI 3.1. */
type Json = Readonly<Record<string, unknown>>;

/** `^Order_[…]{26}$`, the pattern of a reference, and the name of its schema. */
const referencePattern = /^\^(\w+)_\[[^\]]+\]\{26\}\$$/;

const schemaOf = (name: string): Json => ({ $ref: `#/components/schemas/${name}` });

/** Replaces each pattern of a reference by a `$ref`. */
function named(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(named);
  if (typeof value !== "object" || value === null) return value;
  const { pattern } = value as { readonly pattern?: unknown };
  const [, kind] = (typeof pattern === "string" && referencePattern.exec(pattern)) || [];
  if (kind !== undefined) return schemaOf(`${kind}Reference`);
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, named(inner)]));
}

/** The JSON schema of a schema. The input form: unknown fields of a response pass (specification 9.4), those of a request do not. */
function plain(schema: Schema): Json {
  const { $schema: _, ...rest } = z.toJSONSchema(schema(), { io: "input", unrepresentable: "any" });
  return rest;
}

const jsonSchema = (schema: Schema): Json => named(plain(schema)) as Json;

const object = (properties: Json): Json => ({ type: "object", properties, required: Object.keys(properties) });

const content = (type: string, schema: Json): Json => ({ content: { [type]: { schema } } });

/** The headers of every authenticated response (specification 8). */
const rateLimitHeaders: Json = Object.fromEntries(
  ["X-RateLimit", "X-RateLimit-Policy"].map((name) => [name, { $ref: `#/components/headers/${name}` }]),
);

/** Bytes: their media type says it all. */
const bytes: Json = {};

/** What the service takes, as the emulator checks it: the SDK's own schemas ask for more, such as the name in an address. */
function requestOf({ endpoint: { request: shape }, body: taken }: Route): Json | undefined {
  switch (shape.kind) {
    case "json": {
      const body = {
        ...object({ [shape.field]: jsonSchema(taken === undefined ? shape.schema : () => taken(emulatorAssumptions)) }),
        additionalProperties: false,
      };
      return { required: true, ...content("application/json", body) };
    }
    case "image":
      return { required: true, ...content("application/octet-stream", bytes) };
    case "none":
      return undefined;
  }
}

/** The body of a response, by the endpoint's descriptor; undefined without one. */
function bodyOf(shape: ResponseShape<unknown>): Json | undefined {
  switch (shape.kind) {
    case "field":
      return object({ [shape.field]: jsonSchema(shape.schema) });
    case "page":
      return object({
        [shape.field]: { type: "array", items: jsonSchema(shape.item) },
        nextCursor: { type: ["string", "null"], description: "The cursor of the next page; null on the last one." },
      });
    case "whole":
      return jsonSchema(shape.schema);
    default:
      return undefined;
  }
}

function responsesOf({ response, call }: Endpoint): Json {
  const headers = rateLimitHeaders;
  const body = bodyOf(response);
  const errors = {
    "4XX": { $ref: "#/components/responses/Error" },
    "429": { $ref: "#/components/responses/TooManyRequests" },
  };
  if (response.kind === "binary") {
    const file = { "image/png": { schema: bytes }, "image/jpeg": { schema: bytes } };
    const pending = {
      description: "The file is not ready.",
      headers: { "Retry-After": { $ref: "#/components/headers/Retry-After" } },
    };
    return {
      "200": { description: "The file.", headers, content: file },
      ...(call.startsWith("renders.") ? { "202": pending } : {}),
      "304": { description: "The file has not changed since the response with this `ETag`." },
      ...errors,
    };
  }
  const success =
    body === undefined
      ? { "204": { description: "Done.", headers } }
      : { "200": { description: "Done.", headers, ...content("application/json", body) } };
  return { ...success, ...errors };
}

/** `orders.create` as the name of a function. */
const operationId = (call: string): string => call.replace(/\.(\w)/g, (_, letter: string) => letter.toUpperCase());

function parametersOf({ path, query }: Endpoint): readonly Json[] {
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => {
    const [, kind] = /^(\w+)Reference$/.exec(name) ?? [];
    const of = kind === undefined ? { type: "string" } : schemaOf(`${kind[0]?.toUpperCase()}${kind.slice(1)}Reference`);
    return { name, in: "path", required: true, schema: of };
  });
  const inQuery = Object.entries(query).map(([name, of]) => ({
    name,
    in: "query",
    required: !z.safeParse(of() as z.ZodMiniType, undefined).success,
    schema: jsonSchema(of),
  }));
  return [...inPath, ...inQuery];
}

/** What has only a URL in a response: the specification shows no path of it, so those of the routes are the emulator's own. */
const withoutPath: readonly string[] = [getLayerImage.call, downloadEvidence.call];

/** The service's interface as an OpenAPI document, from the endpoints' descriptors. */
function openapi(baseUrl: string): Json {
  const paths: Record<string, Record<string, Json>> = {};
  for (const route of allRoutes.filter(({ endpoint: { call } }) => !withoutPath.includes(call))) {
    const { endpoint } = route;
    const { call, method, path, repeat, policies } = endpoint;
    const parameters = parametersOf(endpoint);
    const requestBody = requestOf(route);
    paths[path] ??= {};
    paths[path][method.toLowerCase()] = {
      operationId: operationId(call),
      tags: [call.split(".")[0]],
      summary: `\`partner.${call}\` of the SDK`,
      "x-repeat": repeat,
      "x-rate-limit-policies": policies,
      ...(parameters.length > 0 ? { parameters } : {}),
      ...(requestBody === undefined ? {} : { requestBody }),
      responses: responsesOf(endpoint),
    };
  }
  // The specification has references that no endpoint uses.
  const used = referenceKinds.filter((kind) => JSON.stringify(paths).includes(`/${kind}Reference"`));
  return {
    openapi: "3.1.0",
    info: {
      title: "Print-on-Demand Partner API",
      version: specification,
      description:
        "Made from the endpoint descriptors of pod-partner. What the specification does not show is missing here, or is what the SDK assumes. `x-repeat` says whether a request may be sent again after its response was lost: safe, idempotent, recoverable (after a look-up), never.",
    },
    servers: [{ url: baseUrl, description: "An emulator. Use the base URL of your environment." }],
    security: [{ key: [] }],
    paths,
    components: {
      securitySchemes: { key: { type: "apiKey", in: "header", name: "X-Service-Secret-Key" } },
      headers: {
        "X-RateLimit": {
          description: "For each policy the remaining tokens `r`, and the seconds `t` until the next one.",
          schema: { type: "string" },
        },
        "X-RateLimit-Policy": {
          description: "For each policy the quota `q` and the window `w` in seconds.",
          schema: { type: "string" },
        },
        "Retry-After": { description: "Seconds.", schema: { type: "integer" } },
      },
      responses: {
        Error: {
          description: "The request was refused.",
          headers: rateLimitHeaders,
          ...content("application/json", schemaOf("Error")),
        },
        TooManyRequests: {
          description: "A rate limit or the rendertoken limit is exceeded.",
          headers: { ...rateLimitHeaders, "Retry-After": { $ref: "#/components/headers/Retry-After" } },
          ...content("application/json", schemaOf("Error")),
        },
      },
      schemas: {
        Error: {
          type: "object",
          properties: {
            code: { type: "string", description: "An open enum.", examples: Object.keys(errorCodes) },
            message: { type: "string" },
          },
          required: ["code", "message"],
        },
        ...Object.fromEntries(used.map((kind) => [`${kind}Reference`, plain(() => reference(kind))])),
      },
    },
  };
}

/** Responds to a GET of `/_emulator/openapi.json`. Returns undefined for another path. */
export const respondWithOpenapi = ({ pathname }: URL, baseUrl: string): Response | undefined =>
  pathname === `${controlRoot}/openapi.json` ? uncachedJson(openapi(baseUrl)) : undefined;
