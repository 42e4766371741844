/*
 * The scripts of `redisStorage`. Each is one atomic step on one key. Redis expires the values by its own time. Values are text (base64), so
 * that each client library passes them unchanged, with any settings.
 */

/** Reads `KEYS[1]` into `held`; false if it holds nothing, or what is no text. Such a key counts as absent, and `SET` replaces it. */
const read = /* lua */ `
local held = redis.pcall("GET", KEYS[1])
if type(held) == "table" then
  if not string.find(held.err, "WRONGTYPE", 1, true) then return held end
  held = false
end
`;

/** Returns the value of `KEYS[1]`, or false. */
export const getScript = /* lua */ `${read}return held`;

/**
 * What `ARGV[1]` says of the value that the key must hold: `any`, `none` or `this` with the value in `ARGV[2]`. A text that is not base64
 * was written by another program, and counts as absent, too.
 */
const holds = /* lua */ `${read}
if ARGV[1] == "none" and held and (#held % 4 > 0 or not string.find(held, "^[%w+/]*=?=?$")) then held = false end
if ARGV[1] ~= "any" and held ~= (ARGV[1] == "this" and ARGV[2]) then return 0 end
`;

/** Sets `KEYS[1]` to `ARGV[3]`, for `ARGV[4]` milliseconds unless it is empty. Returns 1; 0 if the key does not hold what it must. */
export const setScript = /* lua */ `${holds}
if ARGV[4] == "" then redis.call("SET", KEYS[1], ARGV[3])
elseif ARGV[4] == "0" then redis.call("DEL", KEYS[1])
else redis.call("SET", KEYS[1], ARGV[3], "PX", ARGV[4]) end
return 1`;

/** Deletes `KEYS[1]`. Returns 1; 0 if it held nothing, or does not hold what it must. */
export const deleteScript = /* lua */ `${holds}
return redis.call("DEL", KEYS[1])`;

/**
 * Makes one step of an iteration over the keys that begin with `KEYS[1]`: from the cursor `ARGV[1]`, of about `ARGV[2]` keys of the
 * database. Returns the next cursor (`0` after the last step) and the rest of each key, in lines. The prefix is a key of the script, so
 * a cluster runs it where the keys are, and a client that adds its own prefix adds it here, too.
 */
export const keysScript = /* lua */ `
local pattern = string.gsub(KEYS[1], "[%*%?%[%]%^%-\\\\]", "\\\\%0") .. "*"
local step = redis.call("SCAN", ARGV[1], "MATCH", pattern, "COUNT", ARGV[2])
local lines = { step[1] }
for _, key in ipairs(step[2]) do lines[#lines + 1] = string.sub(key, #KEYS[1] + 1) end
return table.concat(lines, "\\n")`;
