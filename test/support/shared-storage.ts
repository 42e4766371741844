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
  /** Creations whose worker has ended without making them. */
  readonly losses: readonly string[];
  readonly made: number;
  readonly requests: number;
}

interface CallOptions {
  readonly lookFirst: boolean;
  readonly signal: AbortSignal;
}

/** How a creation with a number is asked for. Claims are about one shipment, and differ by their quantity. */
const calls: Readonly<Record<string, (partner: PodPartner, number: number, options: CallOptions) => Promise<unknown>>> =
  {
    order: ({ orders }, number, options) =>
      orders.ensure({ ...combinedOrder, customIdentifier: String(number) }, { compare: false, ...options }),
    claim: ({ claims }, number, { signal }) =>
      claims.createItemIssues(
        {
          shipmentReference: ref("Shipment"),
          orderReference: ref("Order"),
          claimlines: [{ orderlineIndex: 1, quantity: number, claimcategoryReference: ref("Claimcategory") }],
        },
        { key: `rma-${number}`, signal },
      ),
    retraction: ({ claims }, number, { signal }) => claims.retract(ref("Claim", String(number)), { signal }),
  };

/** A claim as the service shows it. */
const claimOf = (number: number, status: string, created: number) => ({
  reference: ref("Claim", String(number)),
  orderReference: ref("Order"),
  shipmentReference: ref("Shipment"),
  status,
  created: new Date(created).toISOString(),
  retracted: null,
  decided: null,
  claimcategories: [],
  claimlines: [
    { orderlineIndex: 1, quantity: number, claimcategory: { reference: ref("Claimcategory"), name: "Dirt" } },
  ],
});

/**
 * Two to four clients with one storage make the same creations, such as `order 1`, without further care, in virtual time. The service accepts
 * each of them twice, refuses and loses requests, takes up to 25 s for a creation and shows it up to 3 s later. Clients are killed or suspended at
 * a random request or operation of the storage, and replaced; the storage is slow, and at times cannot be reached.
 *
 * @param once How many orders of a worker say `lookFirst: false`, from 0 to 1.
 */
export async function makeShared(seed: number, creations: readonly string[], once = 0.3): Promise<SharedOutcome> {
  const { chance, between } = random(seed);
  const clock = createManualClock();
  const pass = (ms: number) => new Promise<void>((resolve) => void clock.after(ms, resolve));
  const shared = memoryStorage({ clock, organization: "shop" });
  /** When each creation was made, and when it is shown. */
  const made = new Map<string, { readonly at: number; readonly shown: number }>();
  const doubles: string[] = [];
  let count = 0;
  let requests = 0;
  const trouble = between(0.05, 0.4);
  let outage: "none" | "fails" | "hangs" = "none";
  let isOver = false;

  const respond = async (method: string, url: URL, body: string): Promise<Response | "lost"> => {
    requests += 1;
    await pass(between(5, 60));
    if (chance(trouble / 3))
      return json(429, { code: "rate_limited", message: "Too many requests." }, { "retry-after": "1" });
    if (chance(trouble / 6)) return "lost";
    const [, collection, reference = "", action] = url.pathname.split("/").slice(1);
    if (method === "GET") return read(url.searchParams.get("customIdentifier") ?? "", reference);
    const { order, claim } = body === "" ? {} : JSON.parse(body);
    const ofClaim =
      claim === undefined ? `retraction ${Number(reference.slice(-1))}` : `claim ${claim.claimlines[0].quantity}`;
    const name = collection === "orders" ? `order ${order.customIdentifier}` : ofClaim;
    if (chance(trouble)) await pass(between(300, 25_000));
    if (made.has(name)) doubles.push(name);
    else made.set(name, { at: clock.now(), shown: clock.now() + (chance(0.3) ? between(0, 3_000) : 0) });
    count += 1;
    if (chance(trouble / 2)) return "lost";
    if (action === "retract") return new Response(null, { status: 204 });
    if (claim === undefined) return json(201, { order: { reference: ref("Order", String(count)) } });
    return json(201, { claim: { reference: ref("Claim", String(claim.claimlines[0].quantity)) } });
  };
  const isShown = (name: string) => clock.now() >= (made.get(name)?.shown ?? Number.POSITIVE_INFINITY);
  const read = (customIdentifier: string, reference: string): Response => {
    if (customIdentifier !== "")
      return isShown(`order ${customIdentifier}`)
        ? json(200, { orderReference: ref("Order", "1") })
        : json(404, { code: "not_found", message: "There is no such order." });
    const isRetracted = isShown(`retraction ${Number(reference.slice(-1))}`);
    const show = (number: number) =>
      claimOf(number, isRetracted ? "retracted" : "pending", made.get(`claim ${number}`)?.at ?? 0);
    if (reference !== "") return json(200, { claim: show(Number(reference.slice(-1))) });
    const claims = [1, 2, 3].filter((number) => isShown(`claim ${number}`)).map(show);
    return json(200, { claims, nextCursor: null }, { date: new Date(clock.now()).toUTCString() });
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
      const response = await Promise.race([respond(request.method, new URL(request.url), body), aborted]);
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

  /** A queue delivers the job to a worker until it is done. A killed worker is replaced within seconds. */
  const work = async (name: string, client: { current: ReturnType<typeof start> }): Promise<boolean> => {
    for (let round = 0; round < 200; round++) {
      const { partner, process } = client.current;
      const lookFirst = !chance(once);
      const [kind = "", number] = name.split(" ");
      const end = new AbortController();
      const call = calls[kind]?.(partner, Number(number), { lookFirst, signal: end.signal });
      const done = Promise.resolve(call).then(
        () => "made" as const,
        () => "failed" as const,
      );
      const killed = async () => {
        while (!process.killed) await pass(500);
        return "killed" as const;
      };
      const stopped = !isOver && chance(0.2) ? pass(between(20, 20_000)).then(() => "stopped" as const) : never;
      const ending = await Promise.race([done, killed(), stopped]);
      if (ending === "made") return true;
      if (ending === "stopped") end.abort(new Error("stopped"));
      await pass(between(0, 2_000));
      if (process.killed && client.current.process === process) client.current = start();
    }
    return false;
  };

  const losses: string[] = [];
  const workers = Array.from({ length: Math.floor(between(2, 5)) }, () => ({ current: start() }));
  const all = Promise.all(
    workers.flatMap((client) =>
      creations.map(async (name) => {
        await pass(between(0, 6_000));
        if (!(await work(name, client))) losses.push(name);
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
  losses.push(...creations.filter((name) => !made.has(name)));
  return { doubles, losses, made: count, requests };
}
