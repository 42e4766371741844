import { setImmediate } from "node:timers/promises";
import { type ImageReference, type KeyValueStorage, memoryStorage, PodPartner, type RenderInput } from "pod-partner";
import { createEmulator, createManualClock, type EmulatorOptions, sampleImage } from "pod-partner/testing";
import { settle } from "../../../support/settle.ts";
// A client loads it at its first retry.
import "p-retry";

type Options = NonNullable<ConstructorParameters<typeof PodPartner>[0]>;
type Fetch = NonNullable<Options["fetch"]>;

/** A request as the service received it. */
export interface Seen {
  readonly line: string;
  readonly at: number;
  /** The pair of a creation. */
  readonly pair?: string;
}

const never = new Promise<never>(() => undefined);

const isCreation = ({ method, url }: Request): boolean => method === "POST" && url.endsWith("/renders");

/** A process that dies at one of its requests: from then on its requests and its storage never respond. */
export interface Death {
  /** The number of the request, from 1. */
  readonly request: number;
  /** Whether the service still receives this request. */
  readonly received: boolean;
}

/** An emulator and clients with one storage, on a clock that the test moves. */
export function setUpBatch(emulatorOptions: EmulatorOptions = {}) {
  const clock = createManualClock();
  const emulator = createEmulator({ clock, rendertokenLimit: 100_000, ...emulatorOptions });
  const storage = memoryStorage({ clock, organization: "shop" });
  const seen: Seen[] = [];
  const { baseUrl, secretKey, demo } = emulator;

  const watched: Fetch = async (request, init) => {
    const line = `${request.method} ${new URL(request.url).pathname.slice("/v2".length)}`;
    const pair = line === "POST /renders" ? await request.clone().text() : undefined;
    seen.push({ line, at: clock.now(), ...(pair !== undefined && { pair }) });
    return emulator.fetch(request, init);
  };
  /** The requests of all clients, also of those with another `fetch`. */
  let requests = 0;
  const connect = ({ fetch = watched, ...options }: Options = {}) => {
    const counted: Fetch = (request, init) => {
      requests += 1;
      return fetch(request, init);
    };
    return new PodPartner({ baseUrl, secretKey, clock, storage, fetch: counted, ...options });
  };

  /** A client in a process that dies. */
  const mortal = ({ request: last, received }: Death) => {
    const state = { requests: 0, opened: false, dead: false };
    const created = new Set<string>();
    const remembered = new Set<string>();
    const guarded = <T>(work: () => Promise<T>): Promise<T> => (state.dead ? never : work());
    const fetch: Fetch = async (request, init) => {
      if (state.dead) return never;
      state.requests += 1;
      if (state.requests === last) state.dead = true;
      if (state.dead && !received) return never;
      if (isCreation(request)) {
        const { render } = (await request.clone().json()) as { render: RenderInput };
        created.add(`render:${render.compositionReference}:${render.imageReference}`);
      }
      const response = await watched(request, init);
      return state.dead ? never : response;
    };
    const own: KeyValueStorage = {
      ...storage,
      get: (key) => {
        state.opened = true;
        return guarded(() => storage.get(key));
      },
      set: (key, ...given) =>
        guarded(async () => {
          const done = await storage.set(key, ...given);
          // A lease has a time to live, what is remembered of a render has none.
          if (given[1]?.ttl === undefined) remembered.add(key.slice(key.indexOf("}:") + 2));
          return done;
        }),
      delete: (...given) => guarded(() => storage.delete(...given)),
    };
    /** The number of creations whose responses the process did not remember. */
    const lost = () => [...created].filter((key) => !remembered.has(key)).length;
    return { state, lost, partner: connect({ fetch, storage: own }) };
  };

  let uploaded = 0;
  return {
    clock,
    emulator,
    demo,
    storage,
    seen,
    connect,
    mortal,
    partner: connect(),
    /** Waits for a number of creations while the clock stands still. */
    async created(count: number): Promise<void> {
      const created = () => seen.filter(({ pair }) => pair !== undefined).length;
      for (let turn = 0; turn < 20_000 && created() < count; turn += 1) await setImmediate();
    },
    /** Waits for a call by moving the clock, once it has sent its first request: opening a storage takes time of the machine. */
    async settle<T>(call: Promise<T>): Promise<T> {
      const sent = requests;
      let settled = false;
      const done = () => {
        settled = true;
      };
      call.then(done, done);
      for (let turn = 0; turn < 50_000 && !settled && requests === sent; turn += 1) await setImmediate();
      return settle(clock, call);
    },
    count: (line: RegExp | string) => seen.filter((one) => one.line.match(line) !== null).length,
    /** How often each pair was created. */
    creations: () => {
      const counts = new Map<string, number>();
      for (const { pair } of seen) if (pair !== undefined) counts.set(pair, 1 + (counts.get(pair) ?? 0));
      return [...counts.values()];
    },
    /** Tokens that the service deducted. */
    used: async () => (await connect({ fetch: emulator.fetch }).rendertokens.get()).used,
    /** New pairs with one composition, which costs 1 token in `studio`, 2 in `desk`. */
    async pairs(count: number, scene: "studio" | "desk" = "studio"): Promise<RenderInput[]> {
      const partner = connect({ fetch: emulator.fetch });
      const compositionReference = demo.compositions[scene];
      const images: ImageReference[] = [];
      for (let n = 0; n < count; n += 1) {
        uploaded += 1;
        images.push((await partner.images.upload(sampleImage(String(uploaded)))).reference);
      }
      return images.map((imageReference) => ({ compositionReference, imageReference }));
    },
  };
}

/** Collects the outcomes, and cancels their pictures. */
export async function collect<Outcome>(outcomes: AsyncIterable<Outcome>): Promise<Outcome[]> {
  const collected: Outcome[] = [];
  for await (const outcome of outcomes) {
    const media: unknown = Reflect.get(Object(Reflect.get(Object(outcome), "value")), "media");
    if (media !== undefined) await (media as { cancel(): Promise<void> }).cancel();
    collected.push(outcome);
  }
  return collected;
}

/** Counts outcomes by their reason; `ok` without one. */
export function tally(outcomes: readonly { readonly ok: boolean; readonly reason?: string }[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { ok, reason = "" } of outcomes) counts[ok ? "ok" : reason] = 1 + (counts[ok ? "ok" : reason] ?? 0);
  return counts;
}
