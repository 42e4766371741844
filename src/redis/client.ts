import { createHash } from "node:crypto";

/** What the SDK uses of a client of the package `redis` (node-redis 4 or newer; a cluster or a pool, too). */
export interface NodeRedisClient {
  evalSha(sha1: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>;
  eval(script: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>;
  readonly isReady?: boolean;
}

/** What the SDK uses of a client of the package `ioredis` (a cluster, too). */
export interface IoredisClient {
  evalsha(sha1: string, numberOfKeys: number, ...keysAndArguments: string[]): Promise<unknown>;
  eval(script: string, numberOfKeys: number, ...keysAndArguments: string[]): Promise<unknown>;
  readonly status?: string;
}

/** A connected client of your choice. The SDK never opens or closes a connection. */
export type RedisClient = NodeRedisClient | IoredisClient;

/** A script that Redis runs in one step. */
export interface Script {
  /** Whether the connection is up. */
  readonly ready: boolean;
  run(keys: readonly string[], argument: string): Promise<unknown>;
}

const unknownToServer = (error: unknown) => error instanceof Error && error.message.startsWith("NOSCRIPT");

/** Sends a script by its digest, and in full when the server does not know it: at first, and after a restart. */
export function createScript(client: RedisClient, text: string): Script {
  const sha1 = createHash("sha1").update(text).digest("hex");
  const { evalsha, evaluate, ready } = connect(client);
  return {
    get ready() {
      return ready();
    },
    run: (keys, argument) =>
      evalsha(sha1, keys, argument).catch((error: unknown) => {
        if (unknownToServer(error)) return evaluate(text, keys, argument);
        throw error;
      }),
  };
}

type Evaluate = (script: string, keys: readonly string[], argument: string) => Promise<unknown>;

/** The two packages name the same things differently. */
function connect(client: RedisClient): { evalsha: Evaluate; evaluate: Evaluate; ready: () => boolean } {
  if ("evalSha" in client) {
    return {
      evalsha: async (sha1, keys, argument) => client.evalSha(sha1, { keys: [...keys], arguments: [argument] }),
      evaluate: async (text, keys, argument) => client.eval(text, { keys: [...keys], arguments: [argument] }),
      ready: () => client.isReady ?? true,
    };
  }
  return {
    evalsha: async (sha1, keys, argument) => client.evalsha(sha1, keys.length, ...keys, argument),
    evaluate: async (text, keys, argument) => client.eval(text, keys.length, ...keys, argument),
    // `wait` connects with the first command.
    ready: () => client.status === undefined || client.status === "ready" || client.status === "wait",
  };
}
