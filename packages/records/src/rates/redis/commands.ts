// The arithmetic of packages/base/src/limits/buckets.ts in Lua, by the clock of Redis: the clocks of the processes are
// compared with nothing. A bucket is one key with the time at which it is full; it ends then, as a bucket that is not
// there is full.

const BUCKET = `
local time = redis.call('TIME')
local now = time[1] * 1000 + time[2] / 1000
local function fullAfter(key, amount, perMs, cost)
  local fullAt = tonumber(redis.call('GET', key) or now)
  return math.max(now, math.max(fullAt, now) + cost / amount * perMs)
end
local function keep(key, fullAt)
  if fullAt > now then redis.call('SET', key, string.format('%.3f', fullAt), 'PX', math.ceil(fullAt - now) + 1)
  else redis.call('DEL', key) end
end`;

export const commands = {
  /**
   * KEYS: buckets. ARGV: for each its amount, perMs and cost. Answers with the place of the bucket that lacks most, and
   * how long it does.
   */
  takeFromBuckets: {
    lua: `${BUCKET}
local after, short, lacking = {}, 0, 0
for i, key in ipairs(KEYS) do
  local amount, perMs, cost = tonumber(ARGV[3 * i - 2]), tonumber(ARGV[3 * i - 1]), tonumber(ARGV[3 * i])
  after[i] = fullAfter(key, amount, perMs, cost)
  local debt = after[i] - now - perMs
  if debt > 0.001 and math.max(1, math.ceil(debt)) > lacking then short, lacking = i, math.max(1, math.ceil(debt)) end
end
if short > 0 then return {short, lacking} end
for i, key in ipairs(KEYS) do keep(key, after[i]) end
return false`,
  },
  /** KEYS: bucket. ARGV: its amount, perMs and cost. */
  chargeBucket: {
    numberOfKeys: 1,
    lua: `${BUCKET}
local perMs = tonumber(ARGV[2])
keep(KEYS[1], math.min(fullAfter(KEYS[1], tonumber(ARGV[1]), perMs, tonumber(ARGV[3])), now + 2 * perMs))
return 1`,
  },
} as const;
