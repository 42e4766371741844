import { createHash } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import { type NodeRedisClient, redisPacing } from "pod-partner/redis";
import type { CeilingLimit } from "../../src/http/pacing/ceiling.ts";
import { Pacer } from "../../src/http/pacing/pacer.ts";
import type { PartnerClock } from "../../src/util/clock.ts";
import type { Outcome } from "../support/pacing/consumer.ts";
import { createTimeline, type Timeline } from "../support/pacing/timeline.ts";
import type { Connected } from "./use-redis.ts";

/** Processes of one organization on a simulated clock that runs as fast as the machine can; only Redis is real. */
export interface Simulation {
  readonly clock: Timeline;
  /** A process that joins the fleet; its clock may be one that stops. */
  join(clock?: PartnerClock, ceiling?: CeilingLimit): Pacer;
  /** Whether every visit fails. */
  down: boolean;
  /** Milliseconds that the server's clock is ahead. */
  ahead: number;
  /** The errors of failed visits. */
  readonly lost: string[];
}

/** 300 tokens, 50 a second. */
export const large = { default: [300, 6_000] } as const;

export const refusals = (outcomes: readonly Outcome[]) => outcomes.reduce((sum, { refusals }) => sum + refusals, 0);
export const times = (outcomes: readonly Outcome[]) => outcomes.flatMap(({ served }) => served.map(({ at }) => at));

/** The command that reads the server's time in the script. */
export const serverTime = 'redis.call("TIME")';
let organizations = 0;

/** The lifetime of the slots in the script. */
const slotLife = "math.ceil(slot - now + window)";

/**
 * Runs the real script in a real Redis. The simulation's clock replaces the one call that reads the time. Each visit takes `roundTrip`
 * milliseconds. Keys expire by the clock of the machine, on which a simulated second can take longer than that: slots are kept a minute.
 */
export function simulate(redis: Connected, roundTrip = 1): Simulation {
  const visits = new Set<Promise<unknown>>();
  // Redis reads a time of zero as an unused bucket.
  const clock = createTimeline(10_000_000, () => (visits.size > 0 ? Promise.all(visits) : undefined));
  const later = (ms: number) => new Promise<void>((resolve) => void clock.after(ms, resolve));

  /** The digests of the simulated scripts, by those of the real ones. */
  const scripts = new Map<string, Promise<string>>();

  const client = {
    evalSha: async (sha1: string, { keys, arguments: [ask = ""] }: Parameters<NodeRedisClient["evalSha"]>[1]) => {
      const script = scripts.get(sha1);
      if (script === undefined) throw new Error("NOSCRIPT");
      await later(roundTrip / 2);
      if (simulation.down) throw new Error("The connection is down.");
      const now = clock.now() + simulation.ahead;
      const time = [Math.floor(now / 1000), Math.round((now % 1000) * 1000)].map(String);
      const visit = script.then((simulated) => redis.evalSha(simulated, { keys, arguments: [ask, ...time] }));
      visits.add(visit);
      const reply = await visit.finally(() => visits.delete(visit));
      await later(roundTrip / 2);
      // The reaction to a response takes more promises than one turn of the clock settles.
      const handled = setImmediate();
      visits.add(handled);
      void handled.then(() => visits.delete(handled));
      return reply;
    },
    eval: (text: string, options: Parameters<NodeRedisClient["eval"]>[1]) => {
      if (!text.includes(serverTime)) throw new Error("The script no longer reads the time.");
      const sha1 = createHash("sha1").update(text).digest("hex");
      const simulated = text.replace(serverTime, "{ ARGV[2], ARGV[3] }").replace(slotLife, "60000");
      scripts.set(sha1, redis.scriptLoad(simulated));
      return client.evalSha(sha1, options);
    },
  };
  organizations += 1;
  const shared = redisPacing(client, { organization: `simulation ${organizations}` });
  const baseUrl = "https://partner.example/v2";
  const reports = { onLost: (reason: string) => void simulation.lost.push(reason), onBack: () => undefined };
  const simulation: Simulation = {
    clock,
    down: false,
    ahead: 0,
    lost: [],
    join: (own = clock, ceiling) =>
      new Pacer(own, {
        ceiling,
        open: (buckets, wake) => shared.join({ baseUrl, secretKey: "key", clock: own, ...reports, own: buckets, wake }),
      }),
  };
  return simulation;
}
