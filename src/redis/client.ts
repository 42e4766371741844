import { createHash } from "node:crypto";

/** The methods that the SDK uses of a client of the package `redis` (node-redis 4 or newer, also a cluster or a pool). */
export interface NodeRedisClient {
  evalSha(sha1: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>;
  eval(script: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>;
  readonly isReady?: boolean;
}

/** The methods that the SDK uses of a client of the package `ioredis` (also a cluster). */
export interface IoredisClient {
  evalsha(sha1: string, numberOfKeys: number, ...keysAndArguments: string[]): Promise<unknown>;
  eval(script: string, numberOfKeys: number, ...keysAndArguments: string[]): Promise<unknown>;
  readonly status?: string;
}

/** A connected client. The SDK never opens or closes its connection. */
export type RedisClient = NodeRedisClient | IoredisClient;

/** A script that Redis runs as one atomic step. */
export interface Script {
  /** Whether the connection is up. */
  readonly ready: boolean;
  run(keys: readonly string[], argument: string): Promise<unknown>;
}

const unknownToServer = (error: unknown) => error instanceof Error && error.message.startsWith("NOSCRIPT");

/** Runs a script by its digest, and sends its full text when the server does not know it: at first and after a restart. */
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

/** Hides the different method names of the two packages. */
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
    // In the state `wait` the client connects at the first command.
    ready: () => client.status === undefined || client.status === "ready" || client.status === "wait",
  };
}
