/**
 * The part of the script that keeps the picture of one bucket: opens it, refills it, and learns from what the processes tell. `script.ts`
 * has the constants, and grants by this picture.
 */
export const picture = /* lua */ `
local function open(key, policy)
  local text = redis.call("GET", key)
  local bucket = text and cjson.decode(text)
  -- A clock that was set back would make what is past of what is to come; one that was set ahead would have tokens come that have not.
  local stepped = ahead > forwards and bucket and bucket.at < now - ahead / 2
  if bucket and bucket.at < now + backwards and not stepped then return bucket end
  return {
    quota = policy.quota, window = policy.window, level = policy.quota, at = now, since = now, born = math.floor(now),
    granted = 0, heard = false, scoutAt = 0, heldUntil = 0, lastDue = 0, processes = {}
  }
end

local function interval(bucket) return bucket.window / bucket.quota end

-- Requests on their way, and processes, of which the silent ones are forgotten.
local function count(bucket)
  local underWay, active = 0, 0
  for id, process in pairs(bucket.processes) do
    if process.at < now - silence then bucket.processes[id] = nil
    else underWay, active = underWay + process.underWay, active + 1 end
  end
  return underWay, active
end

-- Tokens come back to the bucket that they were granted from. What a process has in its hands and on its way from elsewhere, or from
-- a bucket that was here before this one, is drawn from this one all the same.
local function settle(bucket, policy)
  local drawn = policy.born == bucket.born and -policy.unused or policy.underWay
  bucket.level = math.min(bucket.level - drawn, bucket.quota - count(bucket))
  bucket.granted = bucket.granted + math.max(0, drawn)
  -- Others may use such tokens until they have been here: the first request waits for that.
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

-- What is known of the level holds no more: the next request goes alone.
local function forgetLevel(bucket) bucket.heard, bucket.scoutAt = false, 0 end

-- While others are known the level is the likely one, and what they drink follows from how far the picture was off.
local function hearShared(bucket, answer)
  local likely = answer.remaining + 0.5 - (bucket.granted - answer.granted)
  local memory = math.max(2000, 100 * interval(bucket))
  bucket.others = math.max(0, bucket.others + (bucket.level - likely) / memory)
  bucket.level = likely
  local trial = math.max(1000, 10 * interval(bucket))
  if now - bucket.since > trial and bucket.others * interval(bucket) < noise then
    bucket.others, bucket.since = nil, now
    bucket.level = likely - 1
  end
end

local function hear(bucket, answer)
  -- An answer to what was granted before this bucket, or before others were known, tells of another picture. So does one from the
  -- future: the clock was set back meanwhile.
  if answer.at < bucket.since or answer.at > now + backwards then return end
  if answer.quota then
    local before = interval(bucket)
    bucket.quota, bucket.window = answer.quota, answer.window
    -- The part that others drink stays the same.
    if bucket.others then bucket.others = bucket.others * before / interval(bucket) end
    bucket.level = math.min(bucket.level, bucket.quota - count(bucket))
  end
  if not answer.remaining then bucket.heard = true return end
  answer.remaining = math.min(answer.remaining, bucket.quota)
  -- At the least: whatever was on its way may be missing in what the service counted.
  local atLeast = answer.remaining - math.max(0, bucket.granted - answer.settled - 1)
  if not bucket.heard then
    bucket.heard = true
    bucket.level = math.min(bucket.level, atLeast)
  elseif bucket.others then
    hearShared(bucket, answer)
  else
    local taken = answer.level - (bucket.granted - answer.granted) - (answer.remaining + 1)
    if taken > 0 then
      bucket.level = bucket.level - taken
      noticeOthers(bucket)
    end
  end
  if not bucket.others then bucket.level = math.max(bucket.level, atLeast) end
end
`;
