import { picture } from "./bucket.lua.ts";

/**
 * Shares the buckets of an organization in Redis: learns from answers, then grants tokens, all in one step and by the server's own time.
 *
 * It is the picture of `http/pacing/bucket/bucket.ts`, held for all processes at once, by the same invariant: with nobody else drinking,
 * `level` is never more than the service's own level less the requests on their way to it. A granted token may lie a little in
 * the future (`horizon`), and counts as taken from then on: so one visit brings several, and no two processes wait for the same one.
 *
 * `KEYS` holds a bucket for each policy of the request; `ARGV[1]` is an `Ask` and the result a `Reply` of `messages.ts`, both as JSON.
 */
export const script = /* lua */ `
local ask = cjson.decode(ARGV[1])
local time = redis.call("TIME")
local now = time[1] * 1000 + time[2] / 1000

-- Milliseconds that a token may lie in the future: long enough for the next visit to be back before the last is used.
local horizon = 100 + ask.visit
-- Milliseconds after which a process that has said nothing has no requests on their way any more: it may have been killed.
local silence = 3000
-- Milliseconds for which the first request is alone; how often others look for its answer, and whether requests have arrived; and
-- how long an idle bucket is kept, at the least and at the most.
local patience, lookForAnswer, lookForRoom, idle, week = 1000, 5, 20, 10000, 604800000
-- Milliseconds after which a level that did not suffice is looked at again, unless a token takes longer: it may have recovered.
local longestLook = 500
-- One token stays, so that a stranger's first request is not refused. Two clocks tick a little apart: milliseconds.
local doorstep, safety = 1, 4
-- Whoever wants no more tokens than this has a start of so many milliseconds on those who want more: somebody may wait for it, while
-- a long list takes its time anyway.
local few, start = 4, 1000
-- Milliseconds by which the server's clock may run backwards without being taken for set anew; and ahead of this process's own: no
-- visit takes longer.
local backwards, forwards = 1000, 500
local ahead = ask.latest > 0 and now - ask.latest - ask.passed or 0
-- Others besides the fleet: see http/pacing/share.ts.
local reserve, perWay, reserveTime, quotaPart, longestWay, noise, least = 24, 7, 120000, 2 / 3, 500, 0.03, 0.1

${picture}
local function note(bucket, policy)
  local process = bucket.processes[ask.process] or { servedAt = 0, backAt = 0, behind = 0 }
  process.underWay, process.at = policy.underWay, now
  if ask.wanted > 0 then process.backAt, process.behind = 0, ask.wanted > few and start or 0 end
  bucket.processes[ask.process] = process
end

-- KeyedMutex go by who was served longest ago, and whoever wants few tokens has a start. A token is left to each process whose turn comes
-- before and that is about to be back.
local function countBefore(bucket)
  local own, before = bucket.processes[ask.process], 0
  local turn = own.servedAt + own.behind
  for _, process in pairs(bucket.processes) do
    if process.backAt > now - horizon and process.servedAt + process.behind < turn then before = before + 1 end
  end
  return before
end

-- When the n-th token from now on can be used: max(0, from + n * step) for n up to most; past that, when it is worth asking again.
local function offer(bucket)
  if now < bucket.heldUntil then return { from = bucket.heldUntil - now, step = 0, most = 0 } end
  if not bucket.heard then
    if bucket.scoutAt == 0 then return { from = 0, step = 0, most = 1 } end
    if now < bucket.scoutAt + patience then return { from = horizon + lookForAnswer, step = 0, most = 0 } end
    -- No answer yet: a few more go, for what there is nobody knows.
    return { from = 0, step = 0, most = few }
  end
  local before = countBefore(bucket)
  if bucket.others then
    local wanted = reserve + perWay * math.min(ask.way, longestWay) / interval(bucket)
    local full = math.max(1, math.min(wanted, bucket.quota * quotaPart, reserveTime / interval(bucket)))
    local part = math.max(least, bucket.level / full)
    local step = interval(bucket) / (part * math.min(1, part))
    return { from = math.max(0, bucket.lastDue + step - now) + (before - 1) * step, step = step, most = math.huge }
  end
  local kept = bucket.quota >= 10 and interval(bucket) <= 30000 and doorstep or 0
  -- While requests are on their way the bucket may be full and refill nothing: it has no more than they leave room for.
  local room = bucket.quota - count(bucket) - kept
  -- A full bucket gives a token to whoever asks: it can hold none for others.
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
  for _, answer in ipairs(policy.answers) do hear(bucket, answer) end
  if policy.hold > 0 then
    noticeOthers(bucket)
    bucket.level = math.min(bucket.level, 0)
    bucket.heldUntil = math.max(bucket.heldUntil, now + policy.hold)
    forgetLevel(bucket)
  end
  -- Whoever comes back has paced itself meanwhile, and others may do so yet. Where the level is unknown already, the answer that
  -- all wait for is on its way: those who come back meanwhile leave it valid.
  if ask.returning and (bucket.heard or not bucket.others) then
    noticeOthers(bucket)
    forgetLevel(bucket)
  end
  local underWay, active = count(bucket)
  buckets[i], offers[i] = bucket, offer(bucket)
  known[i] = {
    born = bucket.born, level = bucket.level, quota = bucket.quota, window = bucket.window, heard = bucket.heard, active = active,
    granted = bucket.granted, settled = bucket.granted - underWay
  }
  -- What there is and what comes within the horizon is divided among those who ask.
  share = math.min(share, math.max(1, math.floor((math.max(0, bucket.level) + horizon / interval(bucket)) / active)))
end

-- When the n-th token can be used, and for how many milliseconds at the most it is not worth asking again.
local function dueOf(n)
  local due, look = 0, 0
  for i, offered in ipairs(offers) do
    if n > offered.most then return math.max(offered.from, horizon + (offered.most > 0 and lookForRoom or lookForAnswer)), week end
    local own = offered.from + n * offered.step
    if own > due then due, look = own, math.max(interval(buckets[i]), longestLook) end
  end
  return due, look
end

-- What is only to be kept in stock comes from plenty.
local function plenty(n)
  for _, bucket in ipairs(buckets) do
    if bucket.others or bucket.level - n < bucket.quota / 4 then return false end
  end
  return true
end

local dues, wait = {}, 0
for n = 1, math.min(share, ask.wanted + ask.stock) do
  local due, look = dueOf(n)
  if n > ask.wanted and (due > 0 or not plenty(n)) then break end
  if due > horizon then wait = math.min(due - horizon, look) break end
  dues[n] = due
end

for i, bucket in ipairs(buckets) do
  local granted, process, offered = #dues, bucket.processes[ask.process], offers[i]
  -- Whoever waits for this bucket is expected to be back.
  if granted < ask.wanted and offered.from + (granted + 1) * offered.step > horizon then process.backAt = now + wait end
  if granted > 0 then
    bucket.level = bucket.level - granted
    bucket.granted = bucket.granted + granted
    process.underWay, process.servedAt = process.underWay + granted, now
    bucket.lastDue = now + dues[granted]
    if not bucket.heard then bucket.scoutAt = now end
  end
  local kept = math.max(idle, 2 * interval(bucket), bucket.heldUntil - now + idle)
  redis.call("SET", KEYS[i], cjson.encode(bucket), "PX", math.ceil(math.min(week, kept)))
end
return cjson.encode({ at = now, dues = dues, wait = wait, policies = known })
`;
