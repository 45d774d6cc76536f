/**
 * The scripts of the page store. Its index is a sorted set of `key:bytes` by when each expires, of a bounded number.
 */
export const commands = {
  /**
   * KEYS: index, page. ARGV: key, the page, ttl, maxBytes, maxPages, how the names of pages begin. What expires first
   * makes room.
   */
  keepPage: {
    numberOfKeys: 2,
    lua: `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
local total = #ARGV[2]
local own = ARGV[1] .. ':'
local others = redis.call('ZRANGE', KEYS[1], 0, -1)
local left = #others
for _, other in ipairs(others) do
  if string.sub(other, 1, #own) == own then
    redis.call('ZREM', KEYS[1], other)
    left = left - 1
  else
    total = total + tonumber(string.match(other, ':(%d+)$'))
  end
end
for _, other in ipairs(others) do
  if total <= tonumber(ARGV[4]) and left < tonumber(ARGV[5]) then break end
  if string.sub(other, 1, #own) ~= own then
    local key, bytes = string.match(other, '^(.*):(%d+)$')
    redis.call('ZREM', KEYS[1], other)
    redis.call('DEL', ARGV[6] .. key)
    total = total - tonumber(bytes)
    left = left - 1
  end
end
redis.call('ZADD', KEYS[1], string.format('%.0f', now + tonumber(ARGV[3])), own .. #ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return redis.call('SET', KEYS[2], ARGV[2], 'PX', ARGV[3])`,
  },
} as const;
