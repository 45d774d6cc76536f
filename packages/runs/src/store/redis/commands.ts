// Each service has keys of its own, so that its user in Redis reaches no run of another. The braces make a cluster keep
// all in one place. A record is a hash of its version and its JSON. Times are Unix milliseconds by the clock of Redis.

const NOW = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)`;

export const commands = {
  /**
   * KEYS: record, due, open, those of its caller that are open, ended, those of its caller that have ended. ARGV: the version that was read or ''
   * for none, the JSON, when it is due or '', whether it is open ('1'), when it is forgotten, its name, its place among those that are open, the most
   * runs and bytes of a caller, the beginning of records' names, how long an end is known, the most ended runs and bytes of a caller, of which the
   * oldest are taken out. Answers 1, 0 if the record is of another version, -1 if its
   * caller has too many.
   */
  replaceRun: {
    numberOfKeys: 6,
    lua: `${NOW}
local version = redis.call('HGET', KEYS[1], 'version') or ''
if version ~= ARGV[1] then return 0 end
if version == '' then
  redis.call('ZREMRANGEBYSCORE', KEYS[4], '-inf', now)
  local bytes = #ARGV[2]
  local names = redis.call('ZRANGE', KEYS[4], 0, -1)
  for _, name in ipairs(names) do bytes = bytes + tonumber(redis.call('HSTRLEN', ARGV[10] .. name, 'json')) end
  if #names >= tonumber(ARGV[8]) or bytes > tonumber(ARGV[9]) then return -1 end
end
redis.call('HSET', KEYS[1], 'version', (tonumber(version) or 0) + 1, 'json', ARGV[2])
redis.call('PEXPIREAT', KEYS[1], ARGV[5])
if ARGV[3] == '' then redis.call('ZREM', KEYS[2], ARGV[6]) else redis.call('ZADD', KEYS[2], ARGV[3], ARGV[6]) end
if ARGV[4] == '1' then
  redis.call('ZADD', KEYS[3], ARGV[7], ARGV[6])
  redis.call('ZADD', KEYS[4], ARGV[5], ARGV[6])
  redis.call('PEXPIREAT', KEYS[4], ARGV[5])
else
  redis.call('ZREM', KEYS[3], ARGV[6])
  redis.call('ZREM', KEYS[4], ARGV[6])
  redis.call('ZADD', KEYS[5], 'NX', now, ARGV[6])
  redis.call('ZREMRANGEBYSCORE', KEYS[5], '-inf', now - ARGV[11])
  redis.call('PEXPIRE', KEYS[5], ARGV[11])
  local function remove(name)
    redis.call('DEL', ARGV[10] .. name)
    for _, key in ipairs({KEYS[2], KEYS[5], KEYS[6]}) do redis.call('ZREM', key, name) end
  end
  if redis.call('ZADD', KEYS[6], 'NX', now, ARGV[6]) == 1 then
    for _, name in ipairs(redis.call('ZRANGE', KEYS[6], 0, -1 - ARGV[12])) do remove(name) end
    local bytes = 0
    -- Small ones cannot be too many bytes.
    for _, name in ipairs(#ARGV[2] > 16384 and redis.call('ZREVRANGE', KEYS[6], 0, -1) or {}) do
      bytes = bytes + redis.call('HSTRLEN', ARGV[10] .. name, 'json')
      if bytes > tonumber(ARGV[13]) then remove(name) end
    end
  end
  redis.call('PEXPIRE', KEYS[6], 9 * ARGV[11])
end
return 1`,
  },
  /**
   * KEYS: due, open. ARGV: the most, the beginning of records' names. Answers the time, when the next one is due or -1,
   * then version and JSON of each that is due. Names without a record are taken out of both.
   */
  dueRuns: {
    numberOfKeys: 2,
    lua: `${NOW}
local found = redis.call('ZRANGE', KEYS[1], 0, ARGV[1], 'WITHSCORES')
local answer = {now, -1}
for i = 1, #found, 2 do
  if tonumber(found[i + 1]) > now or (i - 1) / 2 >= tonumber(ARGV[1]) then
    answer[2] = math.max(0, tonumber(found[i + 1]) - now)
    break
  end
  local record = redis.call('HMGET', ARGV[2] .. found[i], 'version', 'json')
  if record[1] then
    answer[#answer + 1] = record[1]
    answer[#answer + 1] = record[2]
  else
    redis.call('ZREM', KEYS[1], found[i])
    redis.call('ZREM', KEYS[2], found[i])
  end
end
return answer`,
  },
} as const;

/**
 * What reads alone, of one key each: by EVAL_RO also for users who may not write. It is sent as text, as the client
 * knows no other way for it.
 */
export const readers = {
  /** KEYS: record. Answers version, JSON and the time; the time alone if there is none. */
  readRun: `${NOW}
local record = redis.call('HMGET', KEYS[1], 'version', 'json')
if not record[1] then return {now} end
return {now, record[1], record[2]}`,
  /** KEYS: open. ARGV: the most, the beginning of records' names. Answers the JSON of each. */
  openRuns: `
local answer = {}
for _, name in ipairs(redis.call('ZRANGE', KEYS[1], 0, ARGV[1] - 1)) do
  local json = redis.call('HGET', ARGV[2] .. name, 'json')
  if json then answer[#answer + 1] = json end
end
return answer`,
  /** KEYS: ended. ARGV: since when, the most, the beginning of records' names. Answers when it was noted, and the JSON, of each. */
  endedRuns: `
local answer = {}
local found = redis.call('ZRANGE', KEYS[1], ARGV[1], '+inf', 'BYSCORE', 'LIMIT', 0, ARGV[2], 'WITHSCORES')
for i = 1, #found, 2 do
  local json = redis.call('HGET', ARGV[3] .. found[i], 'json')
  if json then
    answer[#answer + 1] = found[i + 1]
    answer[#answer + 1] = json
  end
end
return answer`,
} as const;
