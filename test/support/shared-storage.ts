import {
  type KeyValueStorage,
  memoryStorage,
  type PartnerClock,
  PodPartner,
  type PodPartnerOptions,
} from "pod-partner";
import { createManualClock } from "pod-partner/testing";
import { random } from "./doubles.ts";
import { combinedOrder } from "./orders.ts";
import { ref } from "./references.ts";
import { settle } from "./settle.ts";

const json = (status: number, body: object, headers: Record<string, string> = {}) =>
  new Response(JSON.stringify(body), { status, headers: { "content-type": "application/json", ...headers } });

const never = new Promise<never>(() => undefined);

/** A process: after its end it sends nothing and learns nothing. */
interface Process {
  killed: boolean;
  /** It does nothing before this time. */
  suspendedUntil: number;
}

/** What a scenario has shown. */
export interface SharedOutcome {
  readonly doubles: readonly string[];
  /** Orders whose worker has ended without placing them. */
  readonly losses: readonly string[];
  readonly orders: number;
  readonly requests: number;
}

/**
 * Two to four clients with one storage place the same orders by `ensure` without further care, in virtual time. The service accepts an
 * identifier twice, refuses and loses requests, takes up to 25 s for an order and shows it up to 3 s later. Clients are killed or suspended at
 * a random request or operation of the storage, and replaced; the storage is slow, and at times cannot be reached.
 *
 * @param once How many orders of a worker say `lookFirst: false`, from 0 to 1.
 */
export async function placeShared(seed: number, once = 0.3): Promise<SharedOutcome> {
  const { chance, between } = random(seed);
  const clock = createManualClock();
  const pass = (ms: number) => new Promise<void>((resolve) => void clock.after(ms, resolve));
  const shared = memoryStorage({ clock, organization: "shop" });
  const made = new Map<string, number>();
  const doubles: string[] = [];
  let orders = 0;
  let requests = 0;
  const trouble = between(0.05, 0.4);
  let outage: "none" | "fails" | "hangs" = "none";
  let isOver = false;

  const respond = async (url: URL, body: string): Promise<Response | "lost"> => {
    requests += 1;
    await pass(between(5, 60));
    if (chance(trouble / 3))
      return json(429, { code: "rate_limited", message: "Too many requests." }, { "retry-after": "1" });
    if (chance(trouble / 6)) return "lost";
    if (url.pathname.includes("lookup")) {
      const shownAt = made.get(url.searchParams.get("customIdentifier") ?? "");
      if (shownAt === undefined || clock.now() < shownAt)
        return json(404, { code: "not_found", message: "There is no such order." });
      return json(200, { orderReference: ref("Order", "1") });
    }
    const { customIdentifier } = JSON.parse(body).order;
    if (chance(trouble)) await pass(between(300, 25_000));
    if (made.has(customIdentifier)) doubles.push(customIdentifier);
    else made.set(customIdentifier, clock.now() + (chance(0.3) ? between(0, 3_000) : 0));
    orders += 1;
    return chance(trouble / 2) ? "lost" : json(201, { order: { reference: ref("Order", String(orders)) } });
  };

  const start = () => {
    const process: Process = { killed: false, suspendedUntil: 0 };
    /** A place where the process can be killed or suspended. */
    const step = async (canSuspend = true) => {
      if (!isOver && chance(trouble / 8)) process.killed = true;
      if (!isOver && canSuspend && chance(trouble / 10)) process.suspendedUntil = clock.now() + between(1_000, 60_000);
      while (!process.killed && clock.now() < process.suspendedUntil) await pass(process.suspendedUntil - clock.now());
      if (process.killed) await never;
    };
    const own: PartnerClock = {
      now: () => clock.now(),
      after: (ms, callback) => {
        let stop: () => void = () => undefined;
        const fire = () => {
          if (process.killed) return;
          const left = process.suspendedUntil - clock.now();
          if (left > 0) stop = clock.after(left, fire);
          else callback();
        };
        stop = clock.after(ms, fire);
        return () => stop();
      },
    };
    const operation = async <T>(work: () => Promise<T>): Promise<T> => {
      await step();
      await pass(chance(trouble / 10) ? between(500, 1_500) : between(1, 10));
      if (outage === "hangs") await never;
      if (outage === "fails") throw new Error("the storage is down");
      const result = await work();
      await pass(between(1, 5));
      await step();
      return result;
    };
    const storage: KeyValueStorage = {
      ...shared,
      get: (key) => operation(() => shared.get(key)),
      set: (...given) => operation(() => shared.set(...given)),
      delete: (...given) => operation(() => shared.delete(...given)),
    };
    const fetch: PodPartnerOptions["fetch"] = async (input, init) => {
      const request = new Request(input, init);
      const body = await request.text();
      // Nothing can tell a suspended process, after its last check, that its request comes too late.
      await step(false);
      const aborted = new Promise<never>((_, reject) =>
        request.signal.addEventListener("abort", () => reject(request.signal.reason), { once: true }),
      );
      const response = await Promise.race([respond(new URL(request.url), body), aborted]);
      await step();
      if (response === "lost") throw Object.assign(new TypeError("fetch failed"), { cause: { code: "ECONNRESET" } });
      return response;
    };
    const hooks = { onStorageLost: () => undefined };
    const secretKey = "test-key-5up3r53cr3t";
    const partner = new PodPartner({
      baseUrl: "https://api.example.com/v2",
      secretKey,
      clock: own,
      fetch,
      storage,
      hooks,
    });
    return { partner, process };
  };

  /** A queue delivers the order to a worker until it is placed. A killed worker is replaced within seconds. */
  const work = async (customIdentifier: string, client: { current: ReturnType<typeof start> }): Promise<boolean> => {
    for (let round = 0; round < 200; round++) {
      const { partner, process } = client.current;
      const lookFirst = !chance(once);
      const order = { ...combinedOrder, customIdentifier };
      const end = new AbortController();
      const call = partner.orders.ensure(order, { compare: false, lookFirst, signal: end.signal });
      const done = call.then(
        () => "placed" as const,
        () => "failed" as const,
      );
      const killed = async () => {
        while (!process.killed) await pass(500);
        return "killed" as const;
      };
      const stopped = !isOver && chance(0.2) ? pass(between(20, 20_000)).then(() => "stopped" as const) : never;
      const ending = await Promise.race([done, killed(), stopped]);
      if (ending === "placed") return true;
      if (ending === "stopped") end.abort(new Error("stopped"));
      await pass(between(0, 2_000));
      if (process.killed && client.current.process === process) client.current = start();
    }
    return false;
  };

  const identifiers = ["a", "b", "c"];
  const losses: string[] = [];
  const workers = Array.from({ length: Math.floor(between(2, 5)) }, () => ({ current: start() }));
  const all = Promise.all(
    workers.flatMap((client) =>
      identifiers.map(async (identifier) => {
        await pass(between(0, 6_000));
        if (!(await work(identifier, client))) losses.push(identifier);
      }),
    ),
  ).then(() => {
    isOver = true;
  });
  const storms = async () => {
    while (!isOver) {
      await pass(between(1_000, 60_000));
      if (!chance(trouble)) continue;
      outage = chance(0.5) ? "fails" : "hangs";
      await pass(between(500, 45_000));
      outage = "none";
    }
  };
  void storms();
  await settle(clock, all, 5_000);
  losses.push(...identifiers.filter((identifier) => !made.has(identifier)));
  return { doubles, losses, orders, requests };
}
