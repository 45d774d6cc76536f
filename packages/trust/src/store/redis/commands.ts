export const commands = {
  /**
   * KEYS: records, revision. ARGV: the record's name, the version that was read or "", the new text or "" to remove it,
   * how many there may be. Answers 1, 0 if the record is of another version, or -1 if there is no room.
   */
  replaceTrustRecord: {
    numberOfKeys: 2,
    lua: `
local current = redis.call('HGET', KEYS[1], ARGV[1])
local version = current and redis.sha1hex(current) or ''
if version ~= ARGV[2] then return 0 end
if ARGV[3] == '' then
  redis.call('HDEL', KEYS[1], ARGV[1])
else
  if not current and redis.call('HLEN', KEYS[1]) >= tonumber(ARGV[4]) then return -1 end
  redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
end
redis.call('INCR', KEYS[2])
return 1`,
  },
  /** KEYS: records. Answers names and bytes in turns. */
  sizeTrustRecords: {
    numberOfKeys: 1,
    lua: `
local answer = {}
for _, name in ipairs(redis.call('HKEYS', KEYS[1])) do
  answer[#answer + 1] = name
  answer[#answer + 1] = redis.call('HSTRLEN', KEYS[1], name)
end
return answer`,
  },
} as const;
