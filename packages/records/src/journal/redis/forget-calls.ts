import { MAX_AGE_MS } from "../call-record.ts";
import { NAMES, PUTTING, SEGMENT_MS } from "./segments.ts";

/** As many calls as this are forgotten in one command: more than it writes, and not so many that others wait. */
const MAX_FORGOTTEN = 1_000;

/**
 * KEYS: segments. ARGV: now, the most calls and bytes of all, the most calls of one effective caller, those of a
 * segment, and its bytes. Forgets what has ended. Where there is too much, the effective caller that has most then loses
 * its oldest segment in which at most half of the calls have no end, and these move to its newest. Where all segments
 * have more, the oldest goes with all that is in it.
 */
export const forgetCalls = {
  numberOfKeys: 1,
  lua: `
local now, segmentCalls, segmentBytes = ARGV[1], tonumber(ARGV[5]), tonumber(ARGV[6])
local mostCalls, mostBytes, mostOwn = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
${NAMES}
${PUTTING}
local left = ${MAX_FORGOTTEN}
local function keepLess(owner, bytes)
  taken = taken - bytes
  if redis.call('HINCRBY', shares, owner, -bytes) <= 0 then redis.call('HDEL', shares, owner) end
end
local function forgetKept(caller, owner, id)
  local kept = P .. ':kept:' .. caller .. ':' .. id
  local bytes = redis.call('STRLEN', kept)
  if bytes == 0 then return end
  redis.call('DEL', kept)
  if redis.call('ZREM', texts, id .. ' ' .. caller .. ' ' .. owner .. ' ' .. bytes) == 1 then keepLess(owner, bytes) end
end
local function idsIn(fields)
  local callers = {}
  for _, field in ipairs(fields) do
    local id, caller = string.match(field, '^(.*) (%S+)$')
    local ids = callers[caller] or {}
    callers[caller] = ids
    ids[#ids + 1] = id
  end
  return callers
end
local function openOf(callers)
  local open = {}
  for caller, ids in pairs(callers) do
    for at, isOpen in ipairs(redis.call('SMISMEMBER', outOf(caller), unpack(ids))) do
      if isOpen == 1 then open[#open + 1] = { caller, ids[at] } end
    end
  end
  return open
end
local function forget(n, owner, callers, open, calls)
  local segment, stays, hasKept = segmentOf(n), {}, redis.call('EXISTS', texts) == 1
  taken = taken - redis.call('HGET', sizes, n)
  added[owner] = (added[owner] or 0) - calls
  redis.call('LREM', listOf(owner), 1, n)
  redis.call('ZREM', segments, n)
  for _, key in ipairs({ begins, sizes, owners }) do redis.call('HDEL', key, n) end
  current[owner] = nil
  for caller, ids in pairs(callers) do
    redis.call('HDEL', placesOf(caller), unpack(ids))
    redis.call('SREM', namedBy(caller), n)
  end
  for _, call in ipairs(open) do
    local caller, id = unpack(call)
    local field = id .. ' ' .. caller
    local text = redis.call('HGET', segment, field)
    stays[field] = true
    add(owner, caller, id, text, startOf(text))
  end
  for caller, ids in pairs(callers) do
    if #open == 0 then redis.call('SREM', outOf(caller), unpack(ids)) end
    for _, id in ipairs(hasKept and ids or {}) do
      if not stays[id .. ' ' .. caller] then forgetKept(caller, owner, id) end
    end
  end
  redis.call('UNLINK', segment)
  left = left - calls
  flush()
  if redis.call('EXISTS', listOf(owner)) == 0 then redis.call('HDEL', counts, owner) end
end
local function forgetWhole(n)
  local fields = redis.call('HKEYS', segmentOf(n))
  forget(n, redis.call('HGET', owners, n), idsIn(fields), {}, #fields)
end
local function forgetOldest(owner)
  local list = redis.call('LRANGE', listOf(owner), 0, -1)
  for _, n in ipairs(list) do
    local fields = redis.call('HKEYS', segmentOf(n))
    local callers = idsIn(fields)
    local open = openOf(callers)
    if #open * 2 <= #fields then return forget(n, owner, callers, open, #fields) end
  end
  if list[1] then return forgetWhole(list[1]) end
  redis.call('HDEL', counts, owner)
  has.of[owner] = 0
end
local function valuesOf(key)
  local values, all = {}, redis.call('HGETALL', key)
  for at = 1, #all, 2 do values[all[at]] = all[at + 1] end
  return values
end
local function largest()
  local of, bytes, most = valuesOf(shares), valuesOf(sizes), nil
  for n, owner in pairs(valuesOf(owners)) do
    of[owner] = (of[owner] or 0) + (bytes[n] or 0)
    if not most or of[owner] > of[most] then most = owner end
  end
  return most
end
for _, member in ipairs(redis.call('ZRANGEBYSCORE', texts, '-inf', now, 'LIMIT', 0, ${MAX_FORGOTTEN})) do
  local id, caller, owner, bytes = string.match(member, '^(.*) (%S+) (%S+) (%d+)$')
  redis.call('ZREM', texts, member)
  redis.call('DEL', P .. ':kept:' .. caller .. ':' .. id)
  keepLess(owner, tonumber(bytes))
end
for _, n in ipairs(redis.call('ZRANGEBYSCORE', segments, '-inf', now - ${MAX_AGE_MS}, 'LIMIT', 0, 10)) do
  if left > 0 then forgetWhole(n) end
end
redis.call('ZREMRANGEBYSCORE', P .. ':callers', '-inf', now - ${SEGMENT_MS})
flush()
for owner, calls in pairs(valuesOf(counts)) do
  has.of[owner] = tonumber(calls)
  while left > 0 and has.of[owner] > mostOwn do forgetOldest(owner) end
end
while left > 0 and (has.calls > mostCalls or has.bytes > mostBytes) do
  local owner = largest()
  if not owner then
    redis.call('DEL', all)
    break
  end
  forgetOldest(owner)
end
return 1`,
};
