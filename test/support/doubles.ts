import { PodPartner, type PodPartnerOptions } from "pod-partner";
import { createManualClock } from "pod-partner/testing";
import { combinedOrder } from "./orders.ts";
import { ref } from "./references.ts";
import { settle } from "./settle.ts";

/** Random numbers from a seed. */
export function random(seed: number): {
  chance: (part: number) => boolean;
  between: (least: number, most: number) => number;
} {
  let state = seed * 2_654_435_761;
  const next = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return { chance: (part) => next() < part, between: (least, most) => least + next() * (most - least) };
}

const json = (status: number, body: object, headers: Record<string, string> = {}) =>
  new Response(JSON.stringify(body), { status, headers: { "content-type": "application/json", ...headers } });

const wayIn = 60;
/** A look-up may be a second old, and its response and the request of the order are on their way before and after it. */
const unseen = 1_000 + 3 * wayIn;

/** What a scenario has shown. */
export interface Shown {
  /** Orders that were created although the service could have shown another one with their identifier. */
  readonly doubles: readonly string[];
  readonly orders: number;
}

/**
 * Two clients place the same orders, in virtual time. The service refuses requests with a 429, loses responses and accepts an identifier
 * twice. Calls are aborted and repeated, and clients are killed and replaced.
 *
 * Without `late`, both clients work on an order at the same time, and the service carries out each request when it arrives. With `late`, one
 * works on it after the other, the service may take 25 s, and who takes over from a killed client passes `lookFor`, as the documents say.
 */
export async function placeTogether(seed: number, late: boolean): Promise<Shown> {
  const { chance, between } = random(seed);
  const clock = createManualClock();
  const began = clock.now();
  const pass = (ms: number) => new Promise<void>((resolve) => void clock.after(ms, resolve));
  const created = new Map<string, number[]>();
  const doubles: string[] = [];
  let count = 0;
  const trouble = between(0.1, 0.5);

  const create = (identifier: string) => {
    const times = created.get(identifier) ?? [];
    const latest = times.at(-1);
    const now = clock.now() - began;
    if (latest !== undefined && (late || now - latest > unseen)) doubles.push(`${identifier} at ${latest} and ${now}`);
    created.set(identifier, [...times, now]);
    count += 1;
    return json(201, { order: { reference: ref("Order", String(count)) } });
  };

  const respond = async (url: URL, body: string): Promise<Response | "lost"> => {
    await pass(between(5, wayIn));
    if (chance(trouble / 2)) {
      const headers: Record<string, string> = chance(0.6) ? { "retry-after": String(Math.ceil(between(0, 7))) } : {};
      return json(429, { code: "rate_limited", message: "Too many requests." }, headers);
    }
    if (chance(trouble / 6)) return "lost";
    if (url.pathname.includes("lookup")) {
      const identifier = url.searchParams.get("customIdentifier") ?? "";
      if (!created.has(identifier)) return json(404, { code: "not_found", message: "There is no such order." });
      return json(200, { orderReference: ref("Order", "1") });
    }
    const { customIdentifier } = JSON.parse(body).order;
    if (late && chance(trouble)) await pass(between(300, 25_000));
    const response = create(customIdentifier);
    return chance(trouble / 3) ? "lost" : response;
  };

  /** A process: after its end it sends nothing and learns nothing. */
  const start = () => {
    const process = { killed: false };
    const fetch: PodPartnerOptions["fetch"] = async (input, init) => {
      if (process.killed) return new Promise<Response>(() => undefined);
      const request = new Request(input, init);
      const body = await request.text();
      const response = await Promise.race([
        respond(new URL(request.url), body).then(async (made) => {
          await pass(between(5, wayIn));
          return made;
        }),
        new Promise<never>((_, reject) =>
          request.signal.addEventListener("abort", () => reject(request.signal.reason), { once: true }),
        ),
      ]);
      if (process.killed) return new Promise<Response>(() => undefined);
      if (response === "lost") throw Object.assign(new TypeError("fetch failed"), { cause: { code: "ECONNRESET" } });
      return response;
    };
    const partner = new PodPartner({
      baseUrl: "https://api.example.com/v2",
      secretKey: "test-key-5up3r53cr3t",
      clock,
      fetch,
    });
    return { partner, process };
  };

  const identifiers = ["a", "b"];

  /** Places one order until it is placed, with aborts and kills. */
  const work = async (identifier: string, client: { current: ReturnType<typeof start> }) => {
    let taken = false;
    for (let round = 0; round < 6; round++) {
      const end = new AbortController();
      const { partner, process } = client.current;
      const mayStop = round < 5 && chance(0.5);
      const stop = mayStop ? pass(between(20, 20_000)).then(() => chance(0.4)) : new Promise<never>(() => undefined);
      const lookFor = taken ? 30_000 : 0;
      const call = partner.orders.ensure(
        { ...combinedOrder, customIdentifier: identifier },
        { compare: false, lookFor, signal: end.signal },
      );
      const done = call.then(
        () => "placed" as const,
        () => "failed" as const,
      );
      const ending = await Promise.race([done, stop]);
      if (ending === "placed") return;
      taken = false;
      if (ending === true) {
        // Killed: another process takes over.
        process.killed = true;
        end.abort();
        if (client.current.process === process) client.current = start();
        taken = true;
      } else if (ending === false) end.abort(new Error("stopped"));
      if (late) await done;
      await pass(between(0, 3_000));
    }
  };

  const all = async () => {
    if (late) {
      for (const identifier of identifiers) {
        const client = { current: start() };
        await work(identifier, client);
      }
      return;
    }
    const pair = [{ current: start() }, { current: start() }];
    await Promise.all(
      pair.flatMap((client) =>
        identifiers.map(async (identifier) => {
          await pass(between(0, 8_000));
          await work(identifier, client);
        }),
      ),
    );
  };
  await settle(clock, all(), 10_000);
  await clock.advance(60_000);
  return { doubles, orders: count };
}
