/**
 * The scripts of the replay store. A record is a hash: `beginning`, `attempt`, `size`, and `:STEP` for each note. What
 * a caller has is a sorted set of its records by when each expires, and a hash of their sizes.
 */
export const commands = {
  /** KEYS: record. ARGV: fresh, or nothing; ttl. Answers the whole hash, or nothing. */
  openReplay: {
    numberOfKeys: 1,
    lua: `
if redis.call('EXISTS', KEYS[1]) == 0 then
  if ARGV[1] == '' then return {} end
  redis.call('HSET', KEYS[1], 'beginning', ARGV[1], 'size', 0)
end
redis.call('HINCRBY', KEYS[1], 'attempt', 1)
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return redis.call('HGETALL', KEYS[1])`,
  },
  /**
   * KEYS: record, sizes, ends, bytes of the note, its part. ARGV: attempt, step, head, how many bytes it counts for,
   * what counts for a note, ttl, maxBytes, maxBytesPerCaller, the bytes if they are no part. Answers 1 if noted, 0 if
   * another has the record, 2 if the record is full, 3 if the caller has too much.
   */
  noteReplay: {
    numberOfKeys: 5,
    lua: `
if redis.call('HGET', KEYS[1], 'attempt') ~= ARGV[1] then return 0 end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
for _, over in ipairs(redis.call('ZRANGEBYSCORE', KEYS[3], '-inf', now)) do redis.call('HDEL', KEYS[2], over) end
redis.call('ZREMRANGEBYSCORE', KEYS[3], '-inf', now)
local size = tonumber(redis.call('HGET', KEYS[1], 'size')) + tonumber(ARGV[4])
if redis.call('HEXISTS', KEYS[1], ':' .. ARGV[2]) == 0 then size = size + tonumber(ARGV[5]) end
if size > tonumber(ARGV[7]) then return 2 end
local all = size
local sizes = redis.call('HGETALL', KEYS[2])
for i = 1, #sizes, 2 do
  if sizes[i] ~= KEYS[1] then all = all + tonumber(sizes[i + 1]) end
end
if all > tonumber(ARGV[8]) then return 3 end
redis.call('HSET', KEYS[2], KEYS[1], size)
redis.call('ZADD', KEYS[3], string.format('%.0f', now + tonumber(ARGV[6])), KEYS[1])
redis.call('HSET', KEYS[1], 'size', size, ':' .. ARGV[2], ARGV[3])
if ARGV[9] ~= '' then redis.call('SET', KEYS[4], ARGV[9])
elseif redis.call('EXISTS', KEYS[5]) == 1 then redis.call('RENAME', KEYS[5], KEYS[4]) end
for i = 1, 4 do redis.call('PEXPIRE', KEYS[i], ARGV[6]) end
return 1`,
  },
  /** KEYS: record, ends. ARGV: attempt, ttl. The bytes of its notes go with the record: nothing counts them any more. */
  endReplay: {
    numberOfKeys: 2,
    lua: `
if redis.call('HGET', KEYS[1], 'attempt') ~= ARGV[1] then return 0 end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZADD', KEYS[2], 'XX', string.format('%.0f', now + tonumber(ARGV[2])), KEYS[1])
for _, field in ipairs(redis.call('HKEYS', KEYS[1])) do
  if string.sub(field, 1, 1) == ':' then redis.call('PEXPIRE', KEYS[1] .. field, ARGV[2]) end
end
return redis.call('PEXPIRE', KEYS[1], ARGV[2])`,
  },
} as const;
