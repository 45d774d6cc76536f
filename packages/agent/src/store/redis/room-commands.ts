/** What a counted key costs besides: its name, its place in the count, and the small keys of its session. */
const KEY_BYTES = 512;
/** So many keys are looked at for one that may go. */
const MAX_LOOKS = 256;
/** A count outlives what it counts. */
const COUNT_KEPT_MS = 8 * 24 * 3_600_000;

/**
 * Counts what a caller's sessions take. `callers` is a sorted set of callers by their bytes. Each has a sorted set of its keys by when they expire, and a hash
 * of their bytes. A key is counted anew after each write of it, so a count that was wrong, or has lapsed keys, mends itself.
 * KEYS: callers, a caller's keys, its bytes. ARGV: the caller, what it may have, what all have too many, how the names of `current`, `lease` and `queue` begin.
 */
const COUNT = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local function forget(keys, sizes, caller, key)
  local bytes = tonumber(redis.call('HGET', sizes, key) or '0')
  redis.call('HDEL', sizes, key)
  redis.call('ZREM', keys, key)
  if tonumber(redis.call('ZINCRBY', KEYS[1], -bytes, caller)) <= 0 then redis.call('ZREM', KEYS[1], caller) end
  return bytes
end
local function mayGo(key)
  local kind, session = string.match(key, '}:(%a+):(%x+)')
  if kind == 'turn' then return redis.call('HEXISTS', key, 'record') == 0 end
  return redis.call('EXISTS', ARGV[4] .. session, ARGV[5] .. session, ARGV[6] .. session) == 0
end
local function shrink(caller, most)
  local keys, sizes = string.gsub(KEYS[2], '%x+$', caller), string.gsub(KEYS[3], '%x+$', caller)
  local has = tonumber(redis.call('ZSCORE', KEYS[1], caller) or '0')
  local function drop(key)
    redis.call('UNLINK', key)
    has = has - forget(keys, sizes, caller, key)
  end
  for _, key in ipairs(redis.call('ZRANGEBYSCORE', keys, '-inf', now, 'LIMIT', 0, ${MAX_LOOKS})) do
    if redis.call('EXISTS', key) == 0 then drop(key) end
  end
  if has > most then
    for _, key in ipairs(redis.call('ZRANGE', keys, 0, ${MAX_LOOKS - 1})) do
      if has <= most then break end
      if mayGo(key) then drop(key) end
    end
  end
  return has
end
local function makeRoom()
  local over = tonumber(ARGV[3])
  local most = over > 0 and redis.call('ZREVRANGE', KEYS[1], 0, 0, 'WITHSCORES') or {}
  if most[1] then shrink(most[1], tonumber(most[2]) - over) end
  return math.max(0, shrink(ARGV[1], tonumber(ARGV[2])))
end`;

// Not with the writes in one script: a count that is late by one write harms nobody, and the writes stay as they were.
export const roomCommands = {
  /** KEYS, ARGV as of COUNT; then, as KEYS, what was written. Of its own the caller's go first that expire first, and none of a session with a turn. */
  countSession: {
    lua: `${COUNT}
for i = 4, #KEYS do
  local bytes = redis.call('MEMORY', 'USAGE', KEYS[i], 'SAMPLES', 0)
  local before = tonumber(redis.call('HGET', KEYS[3], KEYS[i]) or '0')
  if bytes then
    redis.call('HSET', KEYS[3], KEYS[i], bytes + ${KEY_BYTES})
    redis.call('ZADD', KEYS[2], string.format('%.0f', now + redis.call('PTTL', KEYS[i])), KEYS[i])
    redis.call('ZINCRBY', KEYS[1], bytes + ${KEY_BYTES} - before, ARGV[1])
  elseif before > 0 then forget(KEYS[2], KEYS[3], ARGV[1], KEYS[i]) end
end
for i = 1, 3 do redis.call('PEXPIRE', KEYS[i], ${COUNT_KEPT_MS}) end
return makeRoom()`,
  },
  /** KEYS: as of COUNT, and a turn. Answers what the caller has after others have made room; 0 if the turn was begun before. */
  askForRoom: {
    numberOfKeys: 4,
    lua: `${COUNT}
local has = makeRoom()
return redis.call('EXISTS', KEYS[4]) == 1 and 0 or has`,
  },
} as const;
