import * as z from "zod/mini";
import { replyText } from "./client.ts";

/** What a response reported about a policy, with the stamp of its request's grant. */
export interface ReportedLevel extends Stamp {
  readonly quota: number | undefined;
  /** Milliseconds. */
  readonly window: number | undefined;
  readonly remaining: number | undefined;
}

/** The state of the shared bucket when it granted a token. The process sends it back with the response's report. */
export interface Stamp {
  /** The server's time, in milliseconds since 1970. */
  readonly at: number;
  /** The service's minimum level when the token is used, if only the fleet uses the bucket. */
  readonly level: number;
  /** The number of tokens granted by then, this one included. */
  readonly granted: number;
  /** How many of these had certainly reached the service. */
  readonly settled: number;
}

/** What one process reports about one policy. */
export interface AskedPolicy {
  /** Used while the bucket does not exist. */
  readonly quota: number;
  readonly window: number;
  /** When the bucket that granted this process's tokens was created; 0 before the process's first visit. */
  readonly born: number;
  /** Tokens that this process holds, and its requests in flight. */
  readonly underWay: number;
  /** Tokens that the process returns. */
  readonly unused: number;
  readonly reports: readonly ReportedLevel[];
  /** Milliseconds for which a refusal holds the policy; 0 without one. */
  readonly hold: number;
}

/** The argument of the script. */
export interface Ask {
  readonly process: string;
  /** Whether this process paced itself until now, because it could not reach Redis. */
  readonly returning: boolean;
  /** The server's time at this process's latest visit, in milliseconds since 1970, and the milliseconds since then by its own clock. */
  readonly latest: number;
  readonly passed: number;
  /** Tokens for calls that wait. */
  readonly wanted: number;
  /** Tokens for later calls. */
  readonly stock: number;
  /** The shortest time from a request to the service's response, in milliseconds. */
  readonly roundTrip: number;
  /** The round trip of a visit to Redis, in milliseconds. */
  readonly visit: number;
  readonly policies: readonly AskedPolicy[];
}

/** Lua has no difference between an empty list and an empty object: both are written as `{}`. */
const numbers = z.union([
  z.array(z.number()),
  z.pipe(
    z.strictObject({}),
    z.transform((): number[] => []),
  ),
]);

const reply = z.object({
  /** The server's time, in milliseconds since 1970. */
  at: z.number(),
  /** For each granted token, the milliseconds until it can be used, in ascending order. */
  dues: numbers,
  /** Milliseconds until the process asks again, when nothing was granted. */
  wait: z.number(),
  /** The buckets before the grant, in the order of the request. */
  policies: z.array(
    z.object({
      /** When this bucket was created, by the server's clock. After Redis was emptied it differs from that of the old bucket. */
      born: z.number(),
      level: z.number(),
      quota: z.number().check(z.positive()),
      window: z.number().check(z.positive()),
      /** Whether a response has reported the level. Until then one request at a time is sent as a probe. */
      heard: z.boolean(),
      /** Milliseconds from one request of the fleet to the next while clients besides the fleet use the bucket; undefined without any. */
      pace: z.optional(z.number()),
      /** The number of processes with a recent visit. */
      active: z.number(),
      granted: z.number(),
      settled: z.number(),
    }),
  ),
});

export type Reply = z.output<typeof reply>;

/** Reads what the script of the pacing returned. */
export const readReply = (returned: unknown): Reply => reply.parse(JSON.parse(replyText(returned)));

/** Reads what the script of the ceiling returned: the milliseconds until each slot comes. */
export const readWaits = (returned: unknown): readonly number[] => numbers.parse(JSON.parse(replyText(returned)));
