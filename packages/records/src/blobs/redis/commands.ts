/**
 * The scripts of the blob store. What an owner has is a sorted set of `name:bytes` by when each expires, of some
 * thousands at most.
 */
export const commands = {
  /**
   * KEYS: owned, ownerOf, blob. ARGV: name, bytes, ttl, maxBytes, how long `owned` is kept, how the names of ownerOf
   * and blob begin, after how many seconds one that nobody fetches may go. Answers 1 if there is room, 0 if not, 2 if
   * the blob is there. What expires first makes room.
   */
  reserveBlob: {
    numberOfKeys: 3,
    lua: `
if redis.call('EXISTS', KEYS[3]) == 1 then return 2 end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
local member = ARGV[1] .. ':' .. ARGV[2]
local bytes = tonumber(ARGV[2])
local others = redis.call('ZRANGE', KEYS[1], 0, -1)
for _, other in ipairs(others) do
  if other ~= member then bytes = bytes + tonumber(string.match(other, ':(%d+)$')) end
end
for _, other in ipairs(others) do
  if bytes <= tonumber(ARGV[4]) then break end
  local name, size = string.match(other, '^(.*):(%d+)$')
  local idle = redis.pcall('OBJECT', 'IDLETIME', ARGV[7] .. name)
  if other ~= member and (not idle or (type(idle) == 'number' and idle >= tonumber(ARGV[8]))) then
    redis.call('ZREM', KEYS[1], other)
    redis.call('UNLINK', ARGV[6] .. name, ARGV[7] .. name)
    bytes = bytes - tonumber(size)
  end
end
if bytes > tonumber(ARGV[4]) then return 0 end
redis.call('ZADD', KEYS[1], string.format('%.0f', now + tonumber(ARGV[3])), member)
redis.call('PEXPIRE', KEYS[1], ARGV[5])
redis.call('SET', KEYS[2], KEYS[1] .. ' ' .. member, 'PX', ARGV[3])
return 1`,
  },
  /**
   * KEYS: part, blob, ownerOf. ARGV: ttl. The part becomes the blob, unless there is one. Answers 0 if the part has lost
   * its place to another of its owner meanwhile.
   */
  commitBlob: {
    numberOfKeys: 3,
    lua: `
if redis.call('EXISTS', KEYS[2]) == 1 then return redis.call('DEL', KEYS[1]) end
if redis.call('EXISTS', KEYS[3]) == 0 then
  redis.call('DEL', KEYS[1])
  return 0
end
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
