import * as z from "zod/mini";

/** What an answer told of a policy, with what the grant of its request was stamped with. */
export interface HeardAnswer extends Stamp {
  readonly quota: number | undefined;
  /** Milliseconds. */
  readonly window: number | undefined;
  readonly remaining: number | undefined;
}

/** What the shared bucket held when a token was granted; it comes back with the answer. */
export interface Stamp {
  /** The server's time, in milliseconds since 1970. */
  readonly at: number;
  /** The service's level when the token is used, at the least, if nobody else drinks. */
  readonly level: number;
  /** Tokens granted by then, this one included. */
  readonly granted: number;
  /** Of these, those that had arrived at the service for sure. */
  readonly settled: number;
}

/** What one process has to say of one policy. */
export interface AskedPolicy {
  /** Holds while the bucket is not known. */
  readonly quota: number;
  readonly window: number;
  /** The bucket that this process's tokens are from; 0 before its first visit. */
  readonly born: number;
  /** Tokens in this process's hands and requests on their way. */
  readonly underWay: number;
  /** Tokens given back. */
  readonly unused: number;
  readonly answers: readonly HeardAnswer[];
  /** Milliseconds for which a refusal holds the policy; 0 without one. */
  readonly hold: number;
}

export interface Ask {
  readonly process: string;
  /** Whether this process comes back from pacing itself. */
  readonly returning: boolean;
  /** The server's time at this process's latest visit, in milliseconds since 1970, and the milliseconds since then by its own clock. */
  readonly latest: number;
  readonly passed: number;
  /** Tokens for calls that wait. */
  readonly wanted: number;
  /** Tokens for calls to come. */
  readonly stock: number;
  /** The shortest time to an answer of the service, in milliseconds. */
  readonly way: number;
  /** How long a visit takes there and back, in milliseconds. */
  readonly visit: number;
  readonly policies: readonly AskedPolicy[];
}

/** Lua tells an empty list and an empty table not apart. */
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
  /** For each granted token the milliseconds until it can be used, rising. */
  dues: numbers,
  /** Milliseconds until it is worth asking for more, where nothing was granted. */
  wait: z.number(),
  /** As they were before the grant, in the order of the request. */
  policies: z.array(
    z.object({
      /** When this bucket was made, by the server's clock: it tells a new one, after Redis was emptied, from the one before. */
      born: z.number(),
      level: z.number(),
      quota: z.number().check(z.positive()),
      window: z.number().check(z.positive()),
      /** Whether an answer has told what it holds. Until then one request goes ahead as a scout. */
      heard: z.boolean(),
      /** Processes that were heard of lately. */
      active: z.number(),
      granted: z.number(),
      settled: z.number(),
    }),
  ),
});

export type Reply = z.output<typeof reply>;

/** Reads what the script returned: text, or its bytes where the client gives those. */
export function readReply(returned: unknown): Reply {
  const text = returned instanceof Uint8Array ? new TextDecoder().decode(returned) : returned;
  if (typeof text !== "string") throw new Error("Redis did not answer with text");
  return reply.parse(JSON.parse(text));
}
