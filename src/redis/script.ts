import { keptToken, tokenDelay } from "../http/pacing/bucket.ts";
import { maxCheckInterval, maxRoundTrip, minPartOfReserve, noiseOfRefill, reserve } from "../http/pacing/fair-share.ts";

/**
 * The part of the script that models one bucket: it loads the bucket, refills it, and learns from the reports of the processes. `script`
 * has the constants and grants the tokens.
 */
const bucketFunctions = /* lua */ `
local function open(key, policy)
  local text = redis.call("GET", key)
  local bucket = text and cjson.decode(text)
  -- After a step of the clock the times in the bucket are wrong: a step back makes past times future ones, a step ahead adds tokens.
  local stepped = ahead > forwards and bucket and bucket.at < now - ahead / 2
  if bucket and bucket.at < now + backwards and not stepped then return bucket end
  return {
    quota = policy.quota, window = policy.window, level = policy.quota, at = now, since = now, born = math.floor(now),
    granted = 0, heard = false, probeAt = 0, heldUntil = 0, lastDue = 0, processes = {}
  }
end

local function interval(bucket) return bucket.window / bucket.quota end

-- Returns the requests in flight and the active processes. Silent processes are removed.
local function count(bucket)
  local underWay, active = 0, 0
  for id, process in pairs(bucket.processes) do
    if process.at < now - silence then bucket.processes[id] = nil
    else underWay, active = underWay + process.underWay, active + 1 end
  end
  return underWay, active
end

-- Tokens return to the bucket that granted them. Tokens and requests in flight of a process that come from another bucket count as
-- drawn from this one.
local function settle(bucket, policy)
  local drawn = policy.born == bucket.born and -policy.unused or policy.underWay
  bucket.level = math.min(bucket.level - drawn, bucket.quota - count(bucket))
  bucket.granted = bucket.granted + math.max(0, drawn)
  -- Other processes may use such tokens until their next visit: the first request waits for that.
  if drawn > 0 and not bucket.heard then bucket.heldUntil = math.max(bucket.heldUntil, bucket.born + horizon) end
end

local function refill(bucket)
  local speed = 1 / interval(bucket) - (bucket.others or 0)
  local gained = math.max(0, now - bucket.at) * speed
  bucket.level = math.min(bucket.quota - count(bucket), bucket.level + gained)
  bucket.at = now
end

local function noticeOthers(bucket)
  bucket.others = bucket.others or 0.5 / interval(bucket)
  bucket.since = now
end

-- The level is no longer known: the next request is a probe.
local function forgetLevel(bucket) bucket.heard, bucket.probeAt = false, 0 end

-- While other clients are known, the level is the likely one, and their use follows from the error of the previous level.
local function observeShared(bucket, report)
  local likely = report.remaining + 0.5 - (bucket.granted - report.granted)
  local memory = math.max(2000, 100 * interval(bucket))
  bucket.others = math.max(0, bucket.others + (bucket.level - likely) / memory)
  bucket.level = likely
  local trial = math.max(1000, 10 * interval(bucket))
  if now - bucket.since > trial and bucket.others * interval(bucket) < noise then
    bucket.others, bucket.since = nil, now
    bucket.level = likely - 1
  end
end

local function observe(bucket, report)
  -- A report for a grant of an earlier bucket, or from before other clients were known, does not fit this level. Neither does a report from the
  -- future: the clock was set back since then.
  if report.at < bucket.since or report.at > now + backwards then return end
  if report.quota then
    local before = interval(bucket)
    bucket.quota, bucket.window = report.quota, report.window
    -- The part of the refill that other clients use stays the same.
    if bucket.others then bucket.others = bucket.others * before / interval(bucket) end
    bucket.level = math.min(bucket.level, bucket.quota - count(bucket))
  end
  if not report.remaining then bucket.heard = true return end
  report.remaining = math.min(report.remaining, bucket.quota)
  -- The minimum: the service may not have counted the requests in flight.
  local atLeast = report.remaining - math.max(0, bucket.granted - report.settled - 1)
  if not bucket.heard then
    bucket.heard = true
    bucket.level = math.min(bucket.level, atLeast)
  elseif bucket.others then
    observeShared(bucket, report)
  else
    local taken = report.level - (bucket.granted - report.granted) - (report.remaining + 1)
    if taken > 0 then
      bucket.level = bucket.level - taken
      noticeOthers(bucket)
    end
  end
  if not bucket.others then bucket.level = math.max(bucket.level, atLeast) end
end
`;

/**
 * Shares the buckets of an organization in Redis: it learns from responses and grants tokens, in one atomic step and by the server's time.
 *
 * It is the model of `http/pacing/bucket.ts` for all processes together, with the same invariant: without other clients, `level` is
 * never more than the service's own level minus the requests in flight. A granted token may be due in the near future (`horizon`), and
 * counts as taken at once: one visit can grant several tokens, and two processes never wait for the same token.
 *
 * `KEYS` has a bucket for each policy of the request; `ARGV[1]` is an `Ask` and the result a `Reply` of `protocol.ts`, both as JSON.
 */
export const script = /* lua */ `
local ask = cjson.decode(ARGV[1])
local time = redis.call("TIME")
local now = time[1] * 1000 + time[2] / 1000

-- A granted token is due within this many milliseconds: the next visit ends before the last token is used.
local horizon = 100 + ask.visit
-- Milliseconds after which a silent process counts as ended, without requests in flight.
local silence = 3000
-- In milliseconds: how long the first request is alone; the intervals of checks for its response and for room in the bucket; and the
-- shortest and longest time for which an idle bucket is kept.
local patience, checkForResponse, checkForRoom, idle, week = 1000, 5, 20, 10000, 604800000
-- Milliseconds after which an insufficient level is checked again, unless a token takes longer: it may have recovered.
local maxCheckInterval = ${maxCheckInterval}
-- Tokens that stay in the bucket for the first request of another client, and the safety margin of the two clocks in milliseconds.
local keptTokens, safety = 1, ${tokenDelay}
-- A process that wants at most this many tokens comes this many milliseconds earlier than one that wants more: a user may wait for a
-- single call, and a long list takes long in any case.
local few, start = 4, 1000
-- Milliseconds by which the server's clock may step back, or run ahead of the process's clock, without counting as set anew: no visit
-- takes longer.
local backwards, forwards = 1000, 500
local ahead = ask.latest > 0 and now - ask.latest - ask.passed or 0
-- For other clients besides the fleet: see http/pacing/fair-share.ts.
local reserve, perRoundTrip, reserveTime = ${reserve.tokens}, ${reserve.perRoundTrip}, ${reserve.ms}
local quotaPart, maxRoundTrip, noise, least = ${reserve.ofQuota}, ${maxRoundTrip}, ${noiseOfRefill}, ${minPartOfReserve}

${bucketFunctions}
local function note(bucket, policy)
  local process = bucket.processes[ask.process] or { servedAt = 0, backAt = 0, behind = 0 }
  process.underWay, process.at = policy.underWay, now
  if ask.wanted > 0 then process.backAt, process.behind = 0, ask.wanted > few and start or 0 end
  bucket.processes[ask.process] = process
end

-- The process that was served longest ago comes first, with an advantage for processes that want few tokens. Counts the processes that
-- come before this one and will soon visit again: one token stays for each.
local function countBefore(bucket)
  local own, before = bucket.processes[ask.process], 0
  local turn = own.servedAt + own.behind
  for _, process in pairs(bucket.processes) do
    if process.backAt > now - horizon and process.servedAt + process.behind < turn then before = before + 1 end
  end
  return before
end

-- When the n-th token can be used: max(0, from + n * step) for n up to most. For a larger n: when the process asks again.
local function offer(bucket)
  if now < bucket.heldUntil then return { from = bucket.heldUntil - now, step = 0, most = 0 } end
  if not bucket.heard then
    if bucket.probeAt == 0 then return { from = 0, step = 0, most = 1 } end
    if now < bucket.probeAt + patience then return { from = horizon + checkForResponse, step = 0, most = 0 } end
    -- There is no response yet: a few more requests are sent, because the level is unknown.
    return { from = 0, step = 0, most = few }
  end
  local before = countBefore(bucket)
  if bucket.others then
    local wanted = reserve + perRoundTrip * math.min(ask.roundTrip, maxRoundTrip) / interval(bucket)
    local full = math.max(1, math.min(wanted, bucket.quota * quotaPart, reserveTime / interval(bucket)))
    local part = math.max(least, bucket.level / full)
    local step = interval(bucket) / (part * math.min(1, part))
    return { from = math.max(0, bucket.lastDue + step - now) + (before - 1) * step, step = step, most = math.huge }
  end
  local kept = bucket.quota >= ${keptToken.minQuota} and interval(bucket) <= ${keptToken.maxInterval} and keptTokens or 0
  -- While requests are in flight the bucket may be full and not refill: the requests in flight limit its level.
  local room = bucket.quota - count(bucket) - kept
  -- A full bucket grants a token to every process: it cannot keep one for others.
  local left = math.max(0, math.min(before, room - 1))
  return { from = (kept + left - bucket.level) * interval(bucket) + safety, step = interval(bucket), most = room }
end

local buckets, offers, known = {}, {}, {}
local share = math.huge
for i, policy in ipairs(ask.policies) do
  local bucket = open(KEYS[i], policy)
  refill(bucket)
  note(bucket, policy)
  settle(bucket, policy)
  for _, report in ipairs(policy.reports) do observe(bucket, report) end
  if policy.hold > 0 then
    noticeOthers(bucket)
    bucket.level = math.min(bucket.level, 0)
    bucket.heldUntil = math.max(bucket.heldUntil, now + policy.hold)
    forgetLevel(bucket)
  end
  -- A process that returns has paced itself without Redis, and others may still do so. If the level is unknown already, all processes wait for
  -- the response to the probe, which stays valid.
  if ask.returning and (bucket.heard or not bucket.others) then
    noticeOthers(bucket)
    forgetLevel(bucket)
  end
  local underWay, active = count(bucket)
  buckets[i], offers[i] = bucket, offer(bucket)
  known[i] = {
    born = bucket.born, level = bucket.level, quota = bucket.quota, window = bucket.window, heard = bucket.heard, active = active,
    granted = bucket.granted, settled = bucket.granted - underWay, pace = bucket.others and offers[i].step or nil
  }
  -- The level and the tokens that come within the horizon are divided among the active processes.
  share = math.min(share, math.max(1, math.floor((math.max(0, bucket.level) + horizon / interval(bucket)) / active)))
end

-- When the n-th token can be used, and the longest time in milliseconds until the process asks again.
local function dueOf(n)
  local due, check = 0, 0
  for i, offered in ipairs(offers) do
    if n > offered.most then return math.max(offered.from, horizon + (offered.most > 0 and checkForRoom or checkForResponse)), week end
    local own = offered.from + n * offered.step
    if own > due then due, check = own, math.max(interval(buckets[i]), maxCheckInterval) end
  end
  return due, check
end

-- Tokens for later calls are granted only from a bucket that is full enough.
local function plenty(n)
  for _, bucket in ipairs(buckets) do
    if bucket.others or bucket.level - n < bucket.quota / 4 then return false end
  end
  return true
end

local dues, wait = {}, 0
for n = 1, math.min(share, ask.wanted + ask.stock) do
  local due, check = dueOf(n)
  if n > ask.wanted and (due > 0 or not plenty(n)) then break end
  if due > horizon then wait = math.min(due - horizon, check) break end
  dues[n] = due
end

for i, bucket in ipairs(buckets) do
  local granted, process, offered = #dues, bucket.processes[ask.process], offers[i]
  -- A process that waits for this bucket will visit again.
  if granted < ask.wanted and offered.from + (granted + 1) * offered.step > horizon then process.backAt = now + wait end
  if granted > 0 then
    bucket.level = bucket.level - granted
    bucket.granted = bucket.granted + granted
    process.underWay, process.servedAt = process.underWay + granted, now
    bucket.lastDue = now + dues[granted]
    if not bucket.heard then bucket.probeAt = now end
  end
  local kept = math.max(idle, 2 * interval(bucket), bucket.heldUntil - now + idle)
  redis.call("SET", KEYS[i], cjson.encode(bucket), "PX", math.ceil(math.min(week, kept)))
end
return cjson.encode({ at = now, dues = dues, wait = wait, policies = known })
`;

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
