import { MAX_UNSEEN_CANCELS, RECORD_KEPT_MS, REPLY_KEPT_MS, UNSEEN_CANCEL_KEPT_MS } from "../claim-store.ts";

// The arrows of ClaimStore's state picture in Lua. Redis runs a script whole or not at all, and with nothing else
// between. A record is a hash. Its reply is a key of its own, since Redis 7.0 lets no field of a hash expire before the
// others. Times are milliseconds by the clock of Redis: the clocks of the processes are compared with nothing.

const NOW = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)`;

/**
 * `born` is when the marker was written. It lies with the records, so it is lost when they are. A Redis that was
 * started again may come back with less than it had confirmed, and so may a replica that takes over, marker included.
 * So the marker counts for one run of one server, unless the operator vouches for more.
 */
const BORN = `
local function born(marker, run, history, keepsAll)
  local found = redis.call('HMGET', marker, 'at', 'run')
  if found[1] and (keepsAll == '1' or found[2] == run) then return tonumber(found[1]) end
  redis.call('HSET', marker, 'at', now, 'run', run, 'history', history)
  return now
end`;

export const transitions = {
  /**
   * Only a connecting process compares the history. A server has another history once it has been a replica. One that
   * has no replica for long may begin another, and processes connected since before would be at odds over it. KEYS:
   * marker. ARGV: run, history, keepsAll.
   */
  openClaims: {
    numberOfKeys: 1,
    lua: `${NOW}${BORN}
if ARGV[3] ~= '1' and redis.call('HGET', KEYS[1], 'history') ~= ARGV[2] then redis.call('DEL', KEYS[1]) end
return born(KEYS[1], ARGV[1], ARGV[2], ARGV[3])`,
  },
  /**
   * Any number of claims. KEYS: marker, then record and reply of each. ARGV: run, history, keepsAll, then owner,
   * requestHash and leaseMs of each.
   */
  takeClaims: {
    lua: `${NOW}${BORN}
local memoryMs = now - born(KEYS[1], ARGV[1], ARGV[2], ARGV[3])
local function take(name, replyName, owner, request, leaseMs)
  local record = redis.call('HMGET', name, 'state', 'owner', 'epoch', 'leaseUntil', 'request')
  local epoch = 1
  if record[1] then
    if record[1] == 'cancelled' then return {'cancelled'} end
    if record[5] ~= request then return {'conflict'} end
    if record[1] == 'done' then return {'done', redis.call('GET', replyName)} end
    if tonumber(record[4]) > now then return {'held', record[2], record[4] - now} end
    epoch = record[3] + 1
  end
  redis.call('HSET', name, 'state', 'claimed', 'owner', owner, 'epoch', epoch, 'leaseUntil', now + leaseMs, 'request', request)
  redis.call('PEXPIRE', name, ${RECORD_KEPT_MS})
  return {'taken', epoch, memoryMs}
end
local answers = {}
for i = 1, (#KEYS - 1) / 2 do answers[i] = take(KEYS[2 * i], KEYS[2 * i + 1], ARGV[3 * i + 1], ARGV[3 * i + 2], ARGV[3 * i + 3]) end
return answers`,
  },
  /** KEYS: record. ARGV: owner, epoch, request, leaseMs. */
  renewClaim: {
    numberOfKeys: 1,
    lua: `${NOW}
local record = redis.call('HMGET', KEYS[1], 'state', 'owner', 'epoch')
if record[1] and (record[1] ~= 'claimed' or record[2] ~= ARGV[1] or record[3] ~= ARGV[2]) then return 0 end
if not record[1] then redis.call('HSET', KEYS[1], 'state', 'claimed', 'owner', ARGV[1], 'epoch', ARGV[2], 'request', ARGV[3]) end
redis.call('HSET', KEYS[1], 'leaseUntil', now + ARGV[4])
redis.call('PEXPIRE', KEYS[1], ${RECORD_KEPT_MS})
return 1`,
  },
  /**
   * Any number of claims. KEYS: record and reply of each. ARGV: owner, epoch, request, the reply and whether it is kept
   * ('1') of each.
   */
  completeClaims: {
    lua: `
local function complete(name, replyName, owner, epoch, request, reply, isKept)
  local record = redis.call('HMGET', name, 'state', 'owner', 'epoch')
  if not record[1] then
    redis.call('HSET', name, 'owner', owner, 'epoch', epoch, 'request', request)
    redis.call('PEXPIRE', name, ${RECORD_KEPT_MS})
  elseif record[2] ~= owner or record[3] ~= epoch then return 0 end
  if record[1] == 'done' then return 1 end
  redis.call('HSET', name, 'state', 'done')
  if isKept == '1' then redis.call('SET', replyName, reply, 'PX', ${REPLY_KEPT_MS}) end
  return 1
end
local answers = {}
for i = 1, #KEYS / 2 do answers[i] = complete(KEYS[2 * i - 1], KEYS[2 * i], unpack(ARGV, 5 * i - 4, 5 * i)) end
return answers`,
  },
  /** KEYS: record. ARGV: owner, epoch. */
  releaseClaim: {
    numberOfKeys: 1,
    lua: `
local record = redis.call('HMGET', KEYS[1], 'state', 'owner', 'epoch')
if record[1] ~= 'claimed' or record[2] ~= ARGV[1] or record[3] ~= ARGV[2] then return 0 end
return redis.call('DEL', KEYS[1])`,
  },
  /** KEYS: record, the names of the caller's records of calls that were cancelled unseen, by time. */
  cancelCall: {
    numberOfKeys: 2,
    lua: `${NOW}
local state = redis.call('HGET', KEYS[1], 'state')
if state == 'done' or state == 'cancelled' then return state end
redis.call('DEL', KEYS[1])
redis.call('HSET', KEYS[1], 'state', 'cancelled')
redis.call('PEXPIRE', KEYS[1], state and ${RECORD_KEPT_MS} or ${UNSEEN_CANCEL_KEPT_MS})
if state then return state end
redis.call('ZADD', KEYS[2], now, KEYS[1])
redis.call('PEXPIRE', KEYS[2], ${UNSEEN_CANCEL_KEPT_MS})
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', now - ${UNSEEN_CANCEL_KEPT_MS})
for _, name in ipairs(redis.call('ZRANGE', KEYS[2], 0, -${MAX_UNSEEN_CANCELS + 1})) do
  if redis.call('HGET', name, 'state') == 'cancelled' then redis.call('DEL', name) end
  redis.call('ZREM', KEYS[2], name)
end
return 'unclaimed'`,
  },
  /** KEYS: record, reply. */
  lookAtCall: {
    numberOfKeys: 2,
    lua: `${NOW}
local record = redis.call('HMGET', KEYS[1], 'state', 'owner', 'leaseUntil')
if not record[1] then return {'unknown'} end
if record[1] == 'done' then return {'done', redis.call('GET', KEYS[2])} end
if record[1] == 'cancelled' then return {'cancelled'} end
if tonumber(record[3]) > now then return {'held', record[2], record[3] - now} end
return {'lapsed'}`,
  },
} as const;
