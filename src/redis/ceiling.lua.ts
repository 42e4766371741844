/**
 * Reserves the next slots of the partner's own ceiling for one process of the fleet, by the server's time. The slots come in the order of the
 * reservations: at most `burst` in any `burst / perSecond` seconds.
 *
 * `KEYS[1]` is the list of the latest `burst` slots, the newest first, each with the time of its reservation; `ARGV[1]` is a `CeilingLimit`
 * with the number of `slots`, as JSON. Returns the milliseconds until each slot comes, as JSON.
 */
export const ceilingScript = /* lua */ `
local limit = cjson.decode(ARGV[1])
local time = redis.call("TIME")
local now = time[1] * 1000 + time[2] / 1000
local window = 1000 * limit.burst / limit.perSecond

local function slotBefore(count)
  local text = redis.call("LINDEX", KEYS[1], count - 1)
  if not text then return 0, 0 end
  local slot, reservedAt = string.match(text, "(%S+) (%S+)")
  return tonumber(slot), tonumber(reservedAt)
end

-- The server's clock was set back: the slots are in a future that does not come soon.
local _, reservedAt = slotBefore(1)
if reservedAt > now + 1000 then redis.call("DEL", KEYS[1]) end
local waits = {}
for number = 1, limit.slots do
  local oldest = slotBefore(limit.burst)
  local slot = math.max(now, slotBefore(1), oldest > 0 and oldest + window or 0)
  redis.call("LPUSH", KEYS[1], string.format("%.3f %.3f", slot, now))
  redis.call("LTRIM", KEYS[1], 0, limit.burst - 1)
  redis.call("PEXPIRE", KEYS[1], math.ceil(slot - now + window))
  waits[number] = slot - now
end
return cjson.encode(waits)
`;
