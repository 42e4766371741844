import { memoryStorage, type PodPartner } from "pod-partner";
import { createManualClock } from "pod-partner/testing";
import { partnerWith } from "../../../support/partner.ts";
import { ref } from "../../../support/references.ts";
import type { Seen } from "./setup.ts";

type Options = NonNullable<ConstructorParameters<typeof PodPartner>[0]>;

/**
 * A service written by hand, and clients with one storage. Renders take `duration` milliseconds, and the status says when they were completed. `retryAfter` makes the
 * `Retry-After` in seconds of the milliseconds until a render is completed. A new render can be read after `unreadable` milliseconds.
 */
export function startService(duration: (n: number) => number, retryAfter: (left: number) => number, unreadable = 0) {
  const clock = createManualClock();
  const storage = memoryStorage({ clock, organization: "shop" });
  const pairs = new Map<string, string>();
  const renders = new Map<string, { created: number; completed: number }>();
  const seen: Seen[] = [];
  const failed = new Set<string>();
  const json = (body: object, status = 200, headers = {}) => Response.json(body, { status, headers });
  const fetch = async (request: Request): Promise<Response> => {
    const path = new URL(request.url).pathname.slice("/v2".length);
    const line = `${request.method} ${path}`;
    const pair = line === "POST /renders" ? await request.text() : undefined;
    seen.push({ line, at: clock.now(), ...(pair !== undefined && { pair }) });
    const [, , reference = "", file] = path.split("/");
    if (path.startsWith("/compositions/")) return json({ composition: { reference, tokenCost: 1 } });
    if (path === "/rendertokens")
      return json({ rendertokens: { used: 0, limit: 1e6, remaining: 1e6, resets: "2026-11-09T00:00:00+01:00" } });
    if (path === "/images") return json({ image: { reference: ref("Image") } });
    if (pair !== undefined) {
      // The same pair again gives the existing render, unless that one has failed.
      const existing = pairs.get(pair);
      if (existing !== undefined && !failed.has(existing)) return json({ render: { reference: existing } });
      const created = ref("Render", String(renders.size + 1));
      pairs.set(pair, created);
      renders.set(created, { created: clock.now(), completed: clock.now() + duration(renders.size) });
      return json({ render: { reference: created } });
    }
    const render = renders.get(reference) ?? { created: 0, completed: 0 };
    if (clock.now() < render.created + unreadable) return json({ code: "not_found", message: "no such render" }, 404);
    const isCompleted = clock.now() >= render.completed;
    if (file === "media")
      return isCompleted
        ? new Response("png", { headers: { "content-type": "image/png" } })
        : new Response(null, {
            status: 202,
            headers: { "retry-after": String(retryAfter(render.completed - clock.now())) },
          });
    const status = failed.has(reference) ? "failed" : isCompleted ? "completed" : "pending";
    const created = new Date(render.created).toISOString();
    const completed = isCompleted ? new Date(render.completed).toISOString() : null;
    const of = { compositionReference: ref("Composition"), imageReference: ref("Image") };
    return json({ render: { reference, ...of, status, created, completed } });
  };
  const connect = (options: Options = {}) => partnerWith({ clock, fetch, ...options });
  /** The n-th render, from 1, fails. */
  const fail = (n: number) => failed.add(ref("Render", String(n)));
  return { clock, storage, fetch, connect, partner: connect(), seen, fail };
}

/** Rows of different pairs. */
export const rowsOf = (count: number) =>
  Array.from({ length: count }, (_, n) => ({
    compositionReference: ref("Composition", "1"),
    imageReference: ref("Image", String(n + 1)),
  }));

/** How often each pair was created. */
export function creationsOf(seen: readonly Seen[]): number[] {
  const counts = new Map<string, number>();
  for (const { pair } of seen) if (pair !== undefined) counts.set(pair, 1 + (counts.get(pair) ?? 0));
  return [...counts.values()];
}

/** The number of requests for each render after its creation. */
export function looksOf(seen: readonly Seen[]): number[] {
  const counts = new Map<string, number>();
  for (const { line } of seen) {
    const [, render] = /^GET \/renders\/(\w+)/.exec(line) ?? [];
    if (render !== undefined) counts.set(render, 1 + (counts.get(render) ?? 0));
  }
  return [...counts.values()];
}
