/** The scripts of the blob store. What an owner has is a sorted set of `name:bytes` by when each expires, of a thousand at most. */
export const commands = {
  /** KEYS: owned, ownerOf, blob. ARGV: name, bytes, ttl, maxBytes, how long `owned` is kept. Answers 1 if there is room, 0 if not, 2 if the blob is there. */
  reserveBlob: {
    numberOfKeys: 3,
    lua: `
if redis.call('EXISTS', KEYS[3]) == 1 then return 2 end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
local member = ARGV[1] .. ':' .. ARGV[2]
local bytes = tonumber(ARGV[2])
for _, other in ipairs(redis.call('ZRANGE', KEYS[1], 0, -1)) do
  if other ~= member then bytes = bytes + tonumber(string.match(other, ':(%d+)$')) end
end
if bytes > tonumber(ARGV[4]) then return 0 end
redis.call('ZADD', KEYS[1], string.format('%.0f', now + tonumber(ARGV[3])), member)
redis.call('PEXPIRE', KEYS[1], ARGV[5])
redis.call('SET', KEYS[2], KEYS[1] .. ' ' .. member, 'PX', ARGV[3])
return 1`,
  },
  /** KEYS: part, blob. ARGV: ttl. The part becomes the blob, unless there is one. */
  commitBlob: {
    numberOfKeys: 2,
    lua: `
if redis.call('EXISTS', KEYS[2]) == 1 then return redis.call('DEL', KEYS[1]) end
redis.call('RENAME', KEYS[1], KEYS[2])
return redis.call('PEXPIRE', KEYS[2], ARGV[1])`,
  },
  /** KEYS: blob, ownerOf. */
  deleteBlob: {
    numberOfKeys: 2,
    lua: `
local owned = redis.call('GET', KEYS[2])
if owned then
  local set, member = string.match(owned, '^(.*) ([^ ]+)$')
  redis.call('ZREM', set, member)
end
return redis.call('DEL', KEYS[1], KEYS[2])`,
  },
} as const;
