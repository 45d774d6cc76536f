import {
  EVENTS_KEPT_MS,
  MAX_EVENTS,
  MAX_HISTORY,
  MAX_TAKES,
  RECORD_KEPT_MS,
  RESULT_KEPT_MS,
  TAKE_UP_LEASES,
} from "../turn-store.ts";
import { counted } from "./room-commands.ts";

/**
 * A fence is remembered for so long after its lease was held last. It is a time, so that a new one is higher also after
 * that.
 */
const FENCE_KEPT_MS = 24 * 3600_000;
/** So is the number of a session's newest event: it outlives the events, and those who read them. */
const SEQUENCE_KEPT_MS = 24 * 3600_000;

/** Returns 0 if the lease is not the writer's. KEYS: lease, fence. ARGV: owner, fence. */
const mustHold = "if redis.call('GET', KEYS[1]) ~= ARGV[1] or redis.call('GET', KEYS[2]) ~= ARGV[2] then return 0 end";

/** Drops turns that have fallen silent, and sets `now`. */
const dropSilent = (queue: string, seen: string): string => `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
for _, silent in ipairs(redis.call('ZRANGEBYSCORE', ${seen}, '-inf', now)) do
  redis.call('ZREM', ${queue}, silent)
  redis.call('ZREM', ${seen}, silent)
end`;

/**
 * Adds a turn to the queue, and says until when it keeps its place.
 * @param full what happens if it has none and there is none
 */
const waitInLine = (
  queue: string,
  seen: string,
  { turn, forMs, max, full }: { turn: string; forMs: string; max: string; full: string },
): string => `
if not redis.call('ZSCORE', ${queue}, ${turn}) then
  local waiting = redis.call('ZCARD', ${queue})
  if waiting >= tonumber(${max}) then ${full} end
  local last = redis.call('ZRANGE', ${queue}, -1, -1, 'WITHSCORES')[2] or 0
  redis.call('ZADD', ${queue}, last + 1, ${turn})
end
redis.call('ZADD', ${seen}, now + ${forMs}, ${turn})
redis.call('PEXPIRE', ${queue}, 2 * ${forMs})
redis.call('PEXPIRE', ${seen}, 2 * ${forMs})`;

// A turn is a hash: `record`, how many answers there are (`n`), each answer (`a:0`), each result (`r:` and the call's
// id), and in the end `result` alone. `takes` says how often it was taken since it last got on. Redis runs a script
// whole or not at all. KEYS and ARGV of what is counted come behind those of the count.
export const turnCommands = {
  /**
   * KEYS: lease, fence, queue, seen, current, turn, history. ARGV: turn, owner, leaseMs, maxWaiting, then fields and
   * values of a new record.
   */
  takeSession: counted(
    7,
    [],
    `
local result = redis.call('HGET', KEYS[6], 'result')
if result then return {'ended', result} end
if redis.call('EXISTS', KEYS[6]) == 0 and makeRoom() > tonumber(MOST) then return {'no room'} end
${dropSilent("KEYS[3]", "KEYS[4]")}
local owner = redis.call('GET', KEYS[1])
local current = redis.call('GET', KEYS[5])
local fence = tonumber(redis.call('GET', KEYS[2]) or '0')
if owner ~= ARGV[2] then
  local first = redis.call('ZRANGE', KEYS[3], 0, 0)[1]
  local isNext = not first or first == ARGV[1]
  if current then isNext = current == ARGV[1] end
  if owner or not isNext then
    ${waitInLine("KEYS[3]", "KEYS[4]", { turn: "ARGV[1]", forMs: "ARGV[3]", max: "ARGV[4]", full: "return {'full', waiting}" })}
    return {'waiting', redis.call('ZRANK', KEYS[3], ARGV[1]) + (owner and 1 or 0)}
  end
  fence = math.max(fence + 1, now)
end
local term = string.format('%.0f', fence)
redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
redis.call('SET', KEYS[2], term, 'PX', ${FENCE_KEPT_MS})
redis.call('ZREM', KEYS[3], ARGV[1])
redis.call('ZREM', KEYS[4], ARGV[1])
redis.call('SET', KEYS[5], ARGV[1], 'PX', ${TAKE_UP_LEASES} * ARGV[3])
local record = redis.call('HGETALL', KEYS[6])
if #record == 0 then redis.call('HSET', KEYS[6], unpack(ARGV, 5)) end
if owner ~= ARGV[2] then redis.call('HINCRBY', KEYS[6], 'takes', 1) end
redis.call('PEXPIRE', KEYS[6], ${RECORD_KEPT_MS})
return {'taken', term, record, redis.call('LRANGE', KEYS[7], 0, -1)}`,
  ),
  /** KEYS: queue, seen, turn. ARGV: turn, placeMs, maxWaiting. */
  placeTurn: {
    numberOfKeys: 3,
    lua: `
if redis.call('EXISTS', KEYS[3]) == 1 then return 0 end
${dropSilent("KEYS[1]", "KEYS[2]")}
${waitInLine("KEYS[1]", "KEYS[2]", { turn: "ARGV[1]", forMs: "ARGV[2]", max: "ARGV[3]", full: "return 0" })}
return 1`,
  },
  /** KEYS: turn, queue, current. ARGV: turn. */
  turnGetsOn: {
    numberOfKeys: 3,
    lua: `
local takes = redis.call('HGET', KEYS[1], 'takes')
if takes then return tonumber(takes) < ${MAX_TAKES} and 1 or 0 end
local ahead = redis.call('ZRANK', KEYS[2], ARGV[1])
if not ahead then return 0 end
local current = redis.call('GET', KEYS[3])
return (ahead > 0 or (current and current ~= ARGV[1])) and 1 or 0`,
  },
  /** KEYS: lease, fence, current. ARGV: owner, fence, leaseMs. */
  renewSession: {
    numberOfKeys: 3,
    lua: `
${mustHold}
redis.call('PEXPIRE', KEYS[1], ARGV[3])
redis.call('PEXPIRE', KEYS[3], ${TAKE_UP_LEASES} * ARGV[3])
return 1`,
  },
  /** KEYS: lease, queue, seen, turn. ARGV: owner, turn. */
  leaveSession: {
    numberOfKeys: 4,
    lua: `
if redis.call('GET', KEYS[1]) == ARGV[1] then
  if tonumber(redis.call('HGET', KEYS[4], 'takes') or '0') > 0 then redis.call('HINCRBY', KEYS[4], 'takes', -1) end
  return redis.call('DEL', KEYS[1])
end
redis.call('ZREM', KEYS[2], ARGV[2])
return redis.call('ZREM', KEYS[3], ARGV[2])`,
  },
  /** KEYS: lease, fence, turn. ARGV: owner, fence, index, answer. */
  addAnswer: counted(
    3,
    [3],
    `
${mustHold}
local count, index = tonumber(redis.call('HGET', KEYS[3], 'n') or '-1'), tonumber(ARGV[3])
if count < index then return 0 end
if count > index then return redis.call('HGET', KEYS[3], 'a:' .. ARGV[3]) == ARGV[4] and 1 or 0 end
redis.call('HSET', KEYS[3], 'a:' .. ARGV[3], ARGV[4], 'n', index + 1, 'takes', 0)
redis.call('PEXPIRE', KEYS[3], ${RECORD_KEPT_MS})
return 1`,
  ),
  /** KEYS: lease, fence, turn. ARGV: owner, fence, call, result. */
  addResult: counted(
    3,
    [3],
    `
${mustHold}
if redis.call('HEXISTS', KEYS[3], 'record') == 0 then return 0 end
if redis.call('HSETNX', KEYS[3], 'r:' .. ARGV[3], ARGV[4]) == 1 then redis.call('HSET', KEYS[3], 'takes', 0) end
redis.call('PEXPIRE', KEYS[3], ${RECORD_KEPT_MS})
return 1`,
  ),
  /**
   * KEYS: lease, fence, current, turn, history, about. ARGV: owner, fence, result, how long a session is kept, what a
   * list has of it or "", then messages.
   */
  endTurn: counted(
    6,
    [4, 5, 6],
    `
local kept = redis.call('HGET', KEYS[4], 'result')
if kept then return kept == ARGV[3] and 1 or 0 end
${mustHold}
redis.call('DEL', KEYS[1], KEYS[3], KEYS[4])
redis.call('HSET', KEYS[4], 'result', ARGV[3])
redis.call('PEXPIRE', KEYS[4], ${RESULT_KEPT_MS})
if ARGV[5] ~= '' then redis.call('SET', KEYS[6], ARGV[5]) end
redis.call('PEXPIRE', KEYS[6], ARGV[4])
if #ARGV > 5 then
  redis.call('RPUSH', KEYS[5], unpack(ARGV, 6))
  redis.call('LTRIM', KEYS[5], -${MAX_HISTORY}, -1)
end
redis.call('PEXPIRE', KEYS[5], ARGV[4])
return 1`,
  ),
  /** KEYS: those that the caller has, by when they expire. Answers with what a list has of the newest sessions. */
  listSessions: {
    numberOfKeys: 1,
    lua: `
local found = {}
for _, key in ipairs(redis.call('ZREVRANGE', KEYS[1], 0, 1999)) do
  if string.find(key, '}:about:', 1, true) then found[#found + 1] = redis.call('GET', key) or nil end
end
return found`,
  },
  /** KEYS: history. ARGV: how long a session is kept, message. */
  noteMessage: counted(
    1,
    [1],
    `
redis.call('RPUSH', KEYS[1], ARGV[2])
redis.call('LTRIM', KEYS[1], -${MAX_HISTORY}, -1)
return redis.call('PEXPIRE', KEYS[1], ARGV[1])`,
  ),
  /** KEYS: events, sequence. ARGV: the number that all are above, then events. Returns the number of the first. */
  addEvents: counted(
    2,
    [1],
    `
local last = math.max(tonumber(redis.call('GET', KEYS[2]) or '0'), tonumber(ARGV[1]))
for i = 2, #ARGV do
  redis.call('XADD', KEYS[1], 'MAXLEN', ${MAX_EVENTS}, string.format('%.0f-0', last + i - 1), 'e', ARGV[i])
end
redis.call('SET', KEYS[2], string.format('%.0f', last + #ARGV - 1), 'PX', ${SEQUENCE_KEPT_MS})
redis.call('PEXPIRE', KEYS[1], ${EVENTS_KEPT_MS})
return last + 1`,
  ),
  /** KEYS: events, sequence. ARGV: after, limit. */
  readEvents: {
    numberOfKeys: 2,
    lua: `return {redis.call('XRANGE', KEYS[1], '(' .. ARGV[1], '+', 'COUNT', ARGV[2]), redis.call('GET', KEYS[2])}`,
  },
} as const;
