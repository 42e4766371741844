import { Buffer } from "node:buffer";
import type { KeyValueStorage } from "../storage/contract.ts";
import { lifetimeOf, readStorageOptions } from "../storage/contract.ts";
import { createScript, type RedisClient, type Script } from "./client.ts";
import { deleteScript, getScript, keysScript, setScript } from "./storage.lua.ts";

/** Options of {@link redisStorage}. */
export interface RedisStorageOptions {
  /** A name for the organization; see {@link KeyValueStorage.organization}. */
  readonly organization?: string | undefined;
}

/** Keys of the database that Redis reads in one step of an iteration: less than a millisecond. */
const step = "1000";

/**
 * Remembers in Redis, for all processes of an organization on any machine.
 *
 * Each change is one atomic script, and values expire by the time of Redis. All keys begin with `pod-partner:{…}:`; on a cluster the keys
 * of an organization are on one node. Redis needs the memory and the disk (`appendonly`) that what it remembers is worth.
 *
 * @param client A connected client of the package `redis` (4 or newer) or `ioredis`, also a cluster or a pool. The SDK does not close it.
 * @throws `ConfigurationError` if `client` is another object.
 * @example
 * const redis = await createClient({ url }).connect();
 * const partner = new PodPartner({ baseUrl, secretKey, storage: redisStorage(redis) });
 */
export function redisStorage(client: RedisClient, options: RedisStorageOptions = {}): KeyValueStorage {
  const { organization } = readStorageOptions(options, ["organization"]);
  const run = runner(client);
  const [get, set, remove, keys] = [run(getScript), run(setScript), run(deleteScript), run(keysScript)];
  return {
    kind: "redis",
    organization,
    async get(key) {
      const text = textOf(await get([key]));
      return text === undefined ? undefined : fromText(text);
    },
    async set(key, value, { ttl, expected } = {}) {
      const lifetime = lifetimeOf(ttl)?.toFixed() ?? "";
      return Number(await set([key], ...expectation(expected), toText(value), lifetime)) === 1;
    },
    async delete(key, { expected } = {}) {
      return expected !== null && Number(await remove([key], ...expectation(expected))) === 1;
    },
    async *keys(prefix) {
      let cursor = "0";
      do {
        const [next = "0", ...rest] = (textOf(await keys([prefix], cursor, step)) ?? "0").split("\n");
        // Redis may find a key twice.
        for (const key of new Set(rest)) yield prefix + key;
        cursor = next;
      } while (cursor !== "0");
    },
  };
}

/**
 * Makes functions that run a script. While the connection is down they fail at once: otherwise the client would keep the commands, and
 * send them much later. A client that was never connected may still be connecting, so its first command waits.
 */
function runner(client: RedisClient): (text: string) => Script["run"] {
  let connected = false;
  return (text) => {
    const script = createScript(client, text);
    return async (keys, ...parameters) => {
      if (connected && !script.ready) throw new Error("the connection to Redis is down");
      const result = await script.run(keys, ...parameters);
      connected ||= script.ready;
      return result;
    };
  };
}

const toText = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");

/** The bytes of a text; undefined if it is not base64. */
function fromText(text: string): Uint8Array | undefined {
  const { buffer, byteOffset, byteLength } = Buffer.from(text, "base64");
  // Node skips characters that are not of base64.
  if (text.length % 4 > 0 || byteLength !== Buffer.byteLength(text, "base64")) return undefined;
  return new Uint8Array(buffer, byteOffset, byteLength);
}

const expectation = (expected: Uint8Array | null | undefined): [mode: string, value: string] =>
  expected === undefined ? ["any", ""] : expected === null ? ["none", ""] : ["this", toText(expected)];

/** The text that a script returned, or its bytes where the client gives those. */
function textOf(returned: unknown): string | undefined {
  if (returned === null || returned === undefined) return undefined;
  if (typeof returned === "string") return returned;
  if (returned instanceof Uint8Array) return new TextDecoder().decode(returned);
  throw new Error("Redis returned no text: use a client that returns strings or bytes");
}
