import { Buffer } from "node:buffer";
import { checkedConfiguration } from "../schemas/check.ts";
import type { KeyValueStorage } from "../storage/contract.ts";
import { lifetimeOf, storageOptions } from "../storage/contract.ts";
import { createScript, type RedisClient, replyText, type Script } from "./client.ts";

/*
 * The scripts of `redisStorage`. Each is one atomic step on one key. Redis expires the values by its own time. Values are text (base64), so
 * that each client library passes them unchanged, with any settings.
 */

/** Reads `KEYS[1]` into `held`; false if it holds nothing, or no string. Such a key counts as absent, and `SET` replaces it. */
const read = /* lua */ `
local held = redis.pcall("GET", KEYS[1])
if type(held) == "table" then
  if not string.find(held.err, "WRONGTYPE", 1, true) then return held end
  held = false
end
`;

/** Returns the value of `KEYS[1]`, or false. */
const getScript = /* lua */ `${read}return held`;

/**
 * What `ARGV[1]` says of the value that the key must hold: `any`, `none` or `this` with the value in `ARGV[2]`. A value that is not base64 was
 * written by another program, and also counts as absent.
 */
const holds = /* lua */ `${read}
if ARGV[1] == "none" and held and (#held % 4 > 0 or not string.find(held, "^[%w+/]*=?=?$")) then held = false end
if ARGV[1] ~= "any" and held ~= (ARGV[1] == "this" and ARGV[2]) then return 0 end
`;

/** Sets `KEYS[1]` to `ARGV[3]`, for `ARGV[4]` milliseconds unless it is empty. Returns 1; 0 if the key does not hold what it must. */
const setScript = /* lua */ `${holds}
if ARGV[4] == "" then redis.call("SET", KEYS[1], ARGV[3])
elseif ARGV[4] == "0" then redis.call("DEL", KEYS[1])
else redis.call("SET", KEYS[1], ARGV[3], "PX", ARGV[4]) end
return 1`;

/** Deletes `KEYS[1]`. Returns 1; 0 if it held nothing, or does not hold what it must. */
const deleteScript = /* lua */ `${holds}
return redis.call("DEL", KEYS[1])`;

/**
 * Makes one step of an iteration over the keys that begin with `KEYS[1]`: from the cursor `ARGV[1]`, of about `ARGV[2]` keys of the
 * database. Returns the next cursor (`0` after the last step) and the rest of each key, in lines. The prefix is a key of the script, so
 * a cluster runs it where the keys are, and a client that adds its own prefix adds it here, too.
 */
const keysScript = /* lua */ `
local pattern = string.gsub(KEYS[1], "[%*%?%[%]%^%-\\\\]", "\\\\%0") .. "*"
local step = redis.call("SCAN", ARGV[1], "MATCH", pattern, "COUNT", ARGV[2])
local lines = { step[1] }
for _, key in ipairs(step[2]) do lines[#lines + 1] = string.sub(key, #KEYS[1] + 1) end
return table.concat(lines, "\\n")`;

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
 * Each change is one atomic script, and values expire by the clock of Redis. All keys begin with `pod-partner:{…}:`; on a cluster the keys of
 * an organization are on one node. Give Redis enough memory and a persistence (`appendonly`) that survives a restart.
 *
 * @param client A connected client of the package `redis` (4 or newer) or `ioredis`, also a cluster or a pool. The SDK does not close it.
 * @throws `ConfigurationError` if `client` is another object.
 * @example
 * const redis = await createClient({ url }).connect();
 * const partner = new PodPartner({ baseUrl, secretKey, storage: redisStorage(redis) });
 *
 */
export function redisStorage(client: RedisClient, options: RedisStorageOptions = {}): KeyValueStorage {
  const { organization } = checkedConfiguration(storageOptions, options, "storage");
  const run = runner(client);
  const [get, set, remove, keys] = [run(getScript), run(setScript), run(deleteScript), run(keysScript)];
  return {
    kind: "redis",
    organization,
    async get(key) {
      const value = await get([key]);
      return value === null || value === undefined ? undefined : fromText(replyText(value));
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
        const [next = "0", ...rest] = replyText(await keys([prefix], cursor, step)).split("\n");
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
