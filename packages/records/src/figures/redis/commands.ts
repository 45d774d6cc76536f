/** The scripts of the store of figures. Its index is a sorted set of services by their last minute. */
export const commands = {
  /**
   * KEYS: the service's day, index. ARGV: service, place of the row, row, ttl in seconds, most services, minutes of the
   * ttl. A row begins with its minute and the number of calls, as unsigned integers of four bytes.
   */
  keepRow: {
    numberOfKeys: 2,
    lua: `
local minute, ended = struct.unpack('<I4I4', ARGV[3])
local kept = redis.call('GETRANGE', KEYS[1], ARGV[2], ARGV[2] + #ARGV[3] - 1)
if #kept == #ARGV[3] then
  local keptMinute, keptEnded = struct.unpack('<I4I4', kept)
  if keptMinute == minute and keptEnded > ended then return kept end
end
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', minute - tonumber(ARGV[6]))
if not redis.call('ZSCORE', KEYS[2], ARGV[1]) and redis.call('ZCARD', KEYS[2]) >= tonumber(ARGV[5]) then return false end
redis.call('SETRANGE', KEYS[1], ARGV[2], ARGV[3])
redis.call('EXPIRE', KEYS[1], ARGV[4])
redis.call('ZADD', KEYS[2], minute, ARGV[1])
redis.call('EXPIRE', KEYS[2], ARGV[4])
return ARGV[3]`,
  },
} as const;
