/** What a counted key costs besides: its name, its place in the count, and the small keys of its session. */
const KEY_BYTES = 512;
/** So many keys are looked at for one that may go. */
const MAX_LOOKS = 256;
/** A count outlives what it counts. */
const COUNT_KEPT_MS = 8 * 24 * 3_600_000;
/** How many of its keys and arguments are for the count. */
const [ROOM_KEYS, ROOM_ARGUMENTS] = [3, 6];

/** `makeRoom`, and what it takes. */
const MAKE_ROOM = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local function forget(keys, sizes, caller, key)
  local bytes = tonumber(redis.call('HGET', sizes, key) or '0')
  redis.call('HDEL', sizes, key)
  redis.call('ZREM', keys, key)
  if tonumber(redis.call('ZINCRBY', CALLERS, -bytes, caller)) <= 0 then redis.call('ZREM', CALLERS, caller) end
  return bytes
end
local function mayGo(key)
  local kind, session = string.match(key, '}:(%a+):(%x+)')
  if kind == 'turn' then return redis.call('HEXISTS', key, 'record') == 0 end
  return redis.call('EXISTS', CURRENT .. session, LEASE .. session, QUEUE .. session) == 0
end
local function shrink(caller, most)
  local keys, sizes = string.gsub(OWN_KEYS, '%x+$', caller), string.gsub(OWN_BYTES, '%x+$', caller)
  local has = tonumber(redis.call('ZSCORE', CALLERS, caller) or '0')
  if redis.call('EXISTS', keys) == 0 then
    redis.call('ZREM', CALLERS, caller)
    return nil -- all that it had has lapsed
  end
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
  local over = tonumber(OVER)
  for _ = 1, over > 0 and ${MAX_LOOKS} or 0 do
    local most = redis.call('ZREVRANGE', CALLERS, 0, 0, 'WITHSCORES')
    if not most[1] or shrink(most[1], tonumber(most[2]) - over) then break end
  end
  return math.max(0, shrink(CALLER, tonumber(MOST)) or 0)
end`;

/**
 * Runs a script, and counts what a caller's sessions take. `callers` is a sorted set of callers by their bytes. Each
 * has a sorted set of its keys by when they expire, and a hash of their bytes. A key is counted anew after each write
 * of it, so a count that was wrong, or has lapsed keys, mends itself. KEYS: callers, a caller's keys, its bytes; then
 * those of the script. ARGV: the caller, what it may have, what all have too many, how the names of `current`, `lease`
 * and `queue` begin; then those of the script.
 * @param written which of the script's keys it writes
 * @param script it may call `makeRoom`, which answers what the caller has after others have made room. From the
 * caller's own keys those that expire first go first, and none of a session with a turn
 */
export const counted = (numberOfKeys: number, written: readonly number[], script: string) => ({
  numberOfKeys: ROOM_KEYS + numberOfKeys,
  lua: `
local CALLERS, OWN_KEYS, OWN_BYTES = unpack(KEYS, 1, ${ROOM_KEYS})
local CALLER, MOST, OVER, CURRENT, LEASE, QUEUE = unpack(ARGV, 1, ${ROOM_ARGUMENTS})
local KEYS, ARGV = {unpack(KEYS, ${ROOM_KEYS + 1})}, {unpack(ARGV, ${ROOM_ARGUMENTS + 1})}
${MAKE_ROOM}
local function run()${script}
end
local answer = run()
for _, i in ipairs({${written.join(", ")}}) do
  local key = KEYS[i]
  local bytes = redis.call('MEMORY', 'USAGE', key, 'SAMPLES', 0)
  local before = tonumber(redis.call('HGET', OWN_BYTES, key) or '0')
  if bytes then
    redis.call('HSET', OWN_BYTES, key, bytes + ${KEY_BYTES})
    redis.call('ZADD', OWN_KEYS, string.format('%.0f', now + redis.call('PTTL', key)), key)
    redis.call('ZINCRBY', CALLERS, bytes + ${KEY_BYTES} - before, CALLER)
  elseif before > 0 then forget(OWN_KEYS, OWN_BYTES, CALLER, key) end
end
${
  written.length === 0
    ? ""
    : `for _, key in ipairs({CALLERS, OWN_KEYS, OWN_BYTES}) do redis.call('PEXPIRE', key, ${COUNT_KEPT_MS}) end
makeRoom()`
}
return answer`,
});
