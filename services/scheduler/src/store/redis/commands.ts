import { CLOCK_SLACK_MS, MAX_TASKS, USAGE_KEPT_MS } from "../schedule-store.ts";

// A task is a field of the hash `tasks`: its version of 32 characters, then its JSON. `due` has the keys by the time at
// which there is something to do, `running` the replica of each task that has a fire out, `replicas` until when each
// replica counts as alive, `of:{caller}` the keys of a caller's tasks, and `over` those of tasks that are there for
// their answers alone, by when they are forgotten.

/** The number of the argument with the clock; without one Redis's own. */
const clock = (argument: number): string => `
local now = tonumber(ARGV[${argument}])
if not now then
  local time = redis.call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
end`;

export const commands = {
  /**
   * KEYS: tasks, due, running, of:caller, spent:day:caller, over. ARGV: key, version or "", version and JSON or "",
   * when it wakes or "", replica or "", tasks of the caller at most or "", fires, tokens, fires at most or "", tokens
   * at most or "", bytes of the caller's tasks at most, when a task that is over is forgotten or "", what the keys
   * `of:` begin with.
   */
  changeTask: {
    numberOfKeys: 6,
    lua: `
local before = redis.call('HGET', KEYS[1], ARGV[1])
local version = before and string.sub(before, 1, 32) or ''
if version ~= ARGV[2] then return 'stale' end
local isFull = not before and ARGV[3] ~= '' and redis.call('HLEN', KEYS[1]) >= ${MAX_TASKS}
if not before and ARGV[3] ~= '' then
  local most = tonumber(ARGV[6])
  if (isFull and redis.call('ZCARD', KEYS[6]) == 0) or (most and redis.call('SCARD', KEYS[4]) >= most) then return 'no_room' end
end
if ARGV[6] ~= '' and #ARGV[3] > #(before or '') then
  local bytes = #ARGV[3]
  for _, key in ipairs(redis.call('SMEMBERS', KEYS[4])) do
    if key ~= ARGV[1] then bytes = bytes + redis.call('HSTRLEN', KEYS[1], key) end
  end
  if bytes > tonumber(ARGV[11]) then return 'no_bytes' end
end
local fires, tokens = tonumber(ARGV[7]), tonumber(ARGV[8])
if ARGV[9] ~= '' then
  local used = redis.call('HMGET', KEYS[5], 'fires', 'tokens')
  if tonumber(used[1] or '0') + fires > tonumber(ARGV[9]) or tonumber(used[2] or '0') >= tonumber(ARGV[10]) then return 'spent' end
end
if fires > 0 or tokens > 0 then
  redis.call('HINCRBY', KEYS[5], 'fires', ARGV[7])
  redis.call('HINCRBY', KEYS[5], 'tokens', ARGV[8])
  redis.call('PEXPIRE', KEYS[5], ${USAGE_KEPT_MS})
end
if isFull then
  local oldest = redis.call('ZPOPMIN', KEYS[6])[1]
  local task = cjson.decode(string.sub(redis.call('HGET', KEYS[1], oldest), 33))
  redis.call('HDEL', KEYS[1], oldest)
  redis.call('ZREM', KEYS[2], oldest)
  redis.call('SREM', ARGV[13] .. task.caller, oldest)
end
if ARGV[3] == '' then
  redis.call('HDEL', KEYS[1], ARGV[1])
  redis.call('SREM', KEYS[4], ARGV[1])
else
  redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
  redis.call('SADD', KEYS[4], ARGV[1])
end
if ARGV[4] == '' then redis.call('ZREM', KEYS[2], ARGV[1]) else redis.call('ZADD', KEYS[2], ARGV[4], ARGV[1]) end
if ARGV[12] == '' then redis.call('ZREM', KEYS[6], ARGV[1]) else redis.call('ZADD', KEYS[6], ARGV[12], ARGV[1]) end
if ARGV[5] == '' then redis.call('HDEL', KEYS[3], ARGV[1]) else redis.call('HSET', KEYS[3], ARGV[1], ARGV[5]) end
return 'written'`,
  },
  /**
   * KEYS: tasks, due, running, replicas. ARGV: clock or "", replica, aliveMs, limit. Answers with now, the next time or
   * "", the count of due tasks, these, and the orphans.
   */
  lookForWork: {
    numberOfKeys: 4,
    lua: `${clock(1)}
local alive = tonumber(ARGV[3])
redis.call('ZREMRANGEBYSCORE', KEYS[4], '-inf', string.format('%.0f', now))
redis.call('ZREMRANGEBYSCORE', KEYS[4], '(' .. string.format('%.0f', now + alive + ${CLOCK_SLACK_MS}), '+inf')
redis.call('ZADD', KEYS[4], string.format('%.0f', now + alive), ARGV[2])
local nextOne = redis.call('ZRANGEBYSCORE', KEYS[2], '(' .. string.format('%.0f', now), '+inf', 'WITHSCORES', 'LIMIT', 0, 1)
local keys = redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', string.format('%.0f', now), 'LIMIT', 0, ARGV[4])
local answer = {string.format('%.0f', now), nextOne[2] or '', #keys}
local limit = #keys + tonumber(ARGV[4])
local running = redis.call('HGETALL', KEYS[3])
for i = 1, #running, 2 do
  if #keys < limit and (running[i + 1] == ARGV[2] or not redis.call('ZSCORE', KEYS[4], running[i + 1])) then keys[#keys + 1] = running[i] end
end
for _, key in ipairs(keys) do answer[#answer + 1] = redis.call('HGET', KEYS[1], key) or '' end
return answer`,
  },
  /** KEYS: tasks, of:caller. */
  readTasksOf: {
    numberOfKeys: 2,
    lua: `
local keys = redis.call('SMEMBERS', KEYS[2])
if #keys == 0 then return {} end
return redis.call('HMGET', KEYS[1], unpack(keys))`,
  },
  /** KEYS: spent:day:caller. ARGV: tokens. */
  chargeTokens: {
    numberOfKeys: 1,
    lua: `
redis.call('HINCRBY', KEYS[1], 'tokens', ARGV[1])
return redis.call('PEXPIRE', KEYS[1], ${USAGE_KEPT_MS})`,
  },
} as const;
