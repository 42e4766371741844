import { createHash } from "node:crypto";
import type { Endpoint } from "../../http/endpoint.ts";
import type { AssumedCall } from "../../schemas/assumptions.ts";
import { retryAfterHeader, WholeResponse } from "../base/messages.ts";
import type { Problem } from "../base/problem.ts";
import type { Settings } from "../settings/options.ts";
import type { World } from "../state/world.ts";

/** The content of a file to download. */
export interface FileContent {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly type: "image/png" | "image/jpeg";
  readonly cacheControl: string;
  /** Milliseconds since 1970. */
  readonly modified: number;
  /** The headers that the specification promises. With `shapes: "minimal"` the response has no others of them. */
  readonly promised: readonly CacheHeader[];
}

type CacheHeader = "ETag" | "Last-Modified" | "Cache-Control";

/** For files that never change: clients may cache them for a year. */
export const immutable = "private, max-age=31536000, immutable";
/** For files that can change: clients must revalidate them each time. */
export const revalidated = "private, no-cache";

const json = (value: unknown, status: number, headers: Readonly<Record<string, string>> = {}): Response =>
  new WholeResponse(JSON.stringify(value), { status, headers: { "Content-Type": "application/json", ...headers } });

/** A response of JSON that no descriptor wraps. */
export const jsonResponse = (value: unknown): Response => json(value, 200);

/** The response with the error object of the specification (2.2). */
export function problemResponse({ code, message, status, retryAfter }: Problem, { assumptions }: Settings): Response {
  const { errorField, statuses } = assumptions;
  const error = { code, message };
  const body = errorField === null ? error : { [errorField]: error };
  return json(body, Object.hasOwn(statuses, code) ? (statuses[code] ?? status) : status, retryAfterHeader(retryAfter));
}

/** Wraps a handler's data as the endpoint's descriptor says. */
export function dataResponse(
  { response: shape, call }: Pick<Endpoint, "response" | "call">,
  data: unknown,
  { assumptions }: Settings,
  headers?: Readonly<Record<string, string>>,
): Response {
  const { fields, cursorOfLists, createdStatus } = assumptions;
  switch (shape.kind) {
    case "field": {
      const field = Object.hasOwn(fields, call) ? fields[call as AssumedCall] : shape.field;
      const cursor = shape.list && cursorOfLists && field !== null ? { nextCursor: null } : {};
      const body = field === null ? data : { [field ?? shape.field]: data, ...cursor };
      return json(body, Object.hasOwn(createdStatus, call) ? (createdStatus[call] ?? 200) : 200, headers);
    }
    case "page": {
      const { items, nextCursor } = data as { readonly items: unknown; readonly nextCursor: unknown };
      return json({ [shape.field]: items, nextCursor }, 200);
    }
    case "whole":
      return json(data, 200);
    default:
      return new Response(null, { status: 204 });
  }
}

/** The 202 for a file that is not ready. `retryAfter` is in milliseconds. */
export const pendingResponse = (retryAfter: number): Response =>
  new Response(null, { status: 202, headers: retryAfterHeader(retryAfter) });

const etagOf = (bytes: Uint8Array): string =>
  `"${createHash("sha256").update(bytes).digest("base64url").slice(0, 27)}"`;

/** The validators that a request can be checked against. */
interface Validators {
  readonly etag: string | undefined;
  readonly modified: number | undefined;
}

/** If-None-Match takes precedence over If-Modified-Since (RFC 9110, 13.2.2). */
function isUnchanged(request: Request, { etag, modified }: Validators): boolean {
  const tags = request.headers.get("If-None-Match");
  if (tags !== null && etag !== undefined) {
    return tags.split(",").some((tag) => tag.trim() === "*" || tag.trim().replace(/^W\//, "") === etag);
  }
  const since = Date.parse(request.headers.get("If-Modified-Since") ?? "");
  return modified !== undefined && !Number.isNaN(since) && Math.floor(modified / 1000) * 1000 <= since;
}

/** The response with a file, or 304 when the client has the current version. */
export function fileResponse({ settings }: World, request: Request, content: FileContent): Response {
  const { bytes, type, cacheControl, modified, promised } = content;
  const etag = etagOf(bytes);
  const all = { ETag: etag, "Last-Modified": new Date(modified).toUTCString(), "Cache-Control": cacheControl };
  const has = (name: CacheHeader) => settings.shapes === "full" || promised.includes(name);
  const headers = Object.fromEntries(Object.entries(all).filter(([name]) => has(name as CacheHeader)));
  const validators = { etag: has("ETag") ? etag : undefined, modified: has("Last-Modified") ? modified : undefined };
  if (isUnchanged(request, validators)) return new Response(null, { status: 304, headers });
  return new WholeResponse(bytes, {
    status: 200,
    headers: { ...headers, "Content-Type": type, "Content-Length": String(bytes.byteLength) },
  });
}
