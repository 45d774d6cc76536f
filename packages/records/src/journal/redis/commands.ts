import { leaseCommands } from "../../redis/index.ts";
import { MAX_AGE_MS, MAX_CALLS } from "../call-record.ts";

// A caller has a hash of its records, and a sorted set of their ids by the time they were made. A third key is the set
// of the ids without an end. Redis runs a script whole or not at all, so the three agree.

export const commands = {
  /**
   * KEYS: records, order, open, callers. ARGV: caller, now, how many records there are, how many of them are open. Then
   * follow all the ids, each with its text, and the times when they were made, each with its id. Last are the ids of
   * the open ones, and those of the others. What is kept of an id stays as `stays` says: a text in a record has no
   * unescaped quotes, so the record can be searched as it is.
   */
  writeCalls: {
    numberOfKeys: 4,
    lua: `
local count, opened = tonumber(ARGV[3]), tonumber(ARGV[4])
local times = 4 + 2 * count
local ids = times + 2 * count
local keeps = {}
for at = 6, times, 2 do
  local request = string.match(ARGV[at], '"request":"([^"]+)"')
  if request and not string.find(ARGV[at], '"state":"answered"', 1, true) then
    local kept = redis.call('HGET', KEYS[1], ARGV[at - 1])
    if kept and (string.find(kept, '"state":"answered"', 1, true) or (string.match(kept, '"request":"([^"]+)"') or request) ~= request) then
      keeps[ARGV[at - 1]] = true
    end
  end
end
if next(keeps) then
  for at = 5, times, 2 do
    if not keeps[ARGV[at]] then redis.call('HSET', KEYS[1], ARGV[at], ARGV[at + 1]) end
  end
  for at = times + 1, ids, 2 do
    if not keeps[ARGV[at + 1]] then redis.call('ZADD', KEYS[2], ARGV[at], ARGV[at + 1]) end
  end
  for at = ids + 1, #ARGV do
    if not keeps[ARGV[at]] then redis.call(at <= ids + opened and 'SADD' or 'SREM', KEYS[3], ARGV[at]) end
  end
else
  redis.call('HSET', KEYS[1], unpack(ARGV, 5, times))
  redis.call('ZADD', KEYS[2], unpack(ARGV, times + 1, ids))
  if opened > 0 then redis.call('SADD', KEYS[3], unpack(ARGV, ids + 1, ids + opened)) end
  if opened < count then redis.call('SREM', KEYS[3], unpack(ARGV, ids + opened + 1, #ARGV)) end
end
local old = redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', ARGV[2] - ${MAX_AGE_MS}, 'LIMIT', 0, 1000)
local excess = math.min(redis.call('ZCARD', KEYS[2]) - ${MAX_CALLS}, 1000)
if #old == 0 and excess > 0 then old = redis.call('ZRANGE', KEYS[2], 0, excess - 1) end
if #old > 0 then
  redis.call('HDEL', KEYS[1], unpack(old))
  redis.call('ZREM', KEYS[2], unpack(old))
  redis.call('SREM', KEYS[3], unpack(old))
end
for i = 1, 3 do redis.call('PEXPIRE', KEYS[i], ${MAX_AGE_MS}) end
redis.call('ZADD', KEYS[4], ARGV[2], ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[4], '-inf', ARGV[2] - ${MAX_AGE_MS})
return 1`,
  },
  /** KEYS: records, open. */
  readOpenCalls: {
    numberOfKeys: 2,
    lua: `
local ids = redis.call('SMEMBERS', KEYS[2])
if #ids == 0 then return {} end
local found = {}
for _, id in ipairs(ids) do
  local record = redis.call('HGET', KEYS[1], id)
  if record then found[#found + 1] = record end
end
return found`,
  },
  /** KEYS: records, order. ARGV: limit. */
  readRecentCalls: {
    numberOfKeys: 2,
    lua: `
local found = {}
for _, id in ipairs(redis.call('ZREVRANGE', KEYS[2], 0, ARGV[1] - 1)) do
  local record = redis.call('HGET', KEYS[1], id)
  if record then found[#found + 1] = record end
end
return found`,
  },
  ...leaseCommands,
} as const;
