import { createHash } from "node:crypto";
import { refuse } from "../storage/contract.ts";
import { propertyOf, textOf } from "../util/foreign.ts";
import { bytesIn } from "../util/kinds.ts";

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
  run(keys: readonly string[], ...parameters: string[]): Promise<unknown>;
}

const unknownToServer = (error: unknown) => textOf(error, "message")?.startsWith("NOSCRIPT") === true;

/**
 * Runs a script by its digest, and sends its full text when the server does not know it: at first and after a restart.
 *
 * @throws `ConfigurationError` if the client is of a package that the SDK does not know.
 */
export function createScript(client: RedisClient, text: string): Script {
  const sha1 = createHash("sha1").update(text).digest("hex");
  const { evalsha, evaluate, ready } = connect(client);
  return {
    get ready() {
      return ready();
    },
    run: (keys, ...parameters) =>
      evalsha(sha1, keys, parameters).catch((error: unknown) => {
        if (unknownToServer(error)) return evaluate(text, keys, parameters);
        throw error;
      }),
  };
}

/** The text that a script returned, or its bytes where the client gives those. */
export function replyText(returned: unknown): string {
  if (typeof returned === "string") return returned;
  const bytes = bytesIn(returned);
  if (bytes !== undefined) return new TextDecoder().decode(bytes);
  throw new Error("Redis returned no text: use a client that returns strings or bytes");
}

type Evaluate = (script: string, keys: readonly string[], parameters: string[]) => Promise<unknown>;

/** Hides the different method names of the two packages. */
function connect(client: RedisClient): { evalsha: Evaluate; evaluate: Evaluate; ready: () => boolean } {
  if (typeof (propertyOf(client, "evalSha") ?? propertyOf(client, "evalsha")) !== "function") {
    refuse(["client"], "expected a client of the package `redis` (4 or newer) or `ioredis`");
  }
  if ("evalSha" in client) {
    return {
      evalsha: async (sha1, keys, parameters) => client.evalSha(sha1, { keys: [...keys], arguments: parameters }),
      evaluate: async (text, keys, parameters) => client.eval(text, { keys: [...keys], arguments: parameters }),
      ready: () => client.isReady ?? true,
    };
  }
  return {
    evalsha: async (sha1, keys, parameters) => client.evalsha(sha1, keys.length, ...keys, ...parameters),
    evaluate: async (text, keys, parameters) => client.eval(text, keys.length, ...keys, ...parameters),
    // In the state `wait` the client connects at the first command.
    ready: () => client.status === undefined || client.status === "ready" || client.status === "wait",
  };
}
