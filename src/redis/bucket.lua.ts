/**
 * The part of the script that models one bucket: it loads the bucket, refills it, and learns from the reports of the processes. `script.ts`
 * has the constants and grants the tokens.
 */
export const bucketFunctions = /* lua */ `
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
  -- A report for a grant of an earlier bucket, or from before other clients were known, does not fit this level. Neither does a report
  -- from the future: the clock was set back meanwhile.
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
