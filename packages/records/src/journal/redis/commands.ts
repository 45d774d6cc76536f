import { leaseCommands } from "../../redis/index.ts";
import { MAX_AGE_MS } from "../call-record.ts";

// A caller has a hash of its records, a sorted set of their ids by the time they were made, and a set of the ids without
// an end. Beside it are the calls that were noted ahead: a hash, which costs a fraction of a record. All callers together have the index: sorted sets of the calls by time and by id, and what each effective
// caller's take. Redis runs a script whole or not at all, so all of these agree. A script reaches keys of its own making;
// the braces in their names put them into one slot.

/** What Redis needs for a record besides its text: measured with records of 600 bytes and ids of 32 digits. */
const RECORD_BYTES = 700;
/** Keys that nobody writes end after this long: what the index has of them goes before. */
const KEY_MS = MAX_AGE_MS + 3_600_000;
/** As many calls as this are forgotten in one command: more than it writes, and not so many that others wait. */
const MAX_FORGOTTEN = 1_000;
/** One caller loses so many at most before it is seen anew which one has most. */
const AT_ONCE = 16;
/** The first write after each such time forgets what has ended. */
const SWEEP_MS = 1_000;

/**
 * Forgets calls, and counts what each effective caller has. The name of a call in the index is `id caller owner`: see
 * `keyOf`. A text in a record has no unescaped quotes, so a record can be searched as it is.
 */
const ledger = `
local sizes, total, kepts = KEYS[7], KEYS[8], KEYS[9]
local prefix = ARGV[2]
local function parentOf(text)
  local at = text and string.find(text, '"parent":"', 1, true) -- a pattern takes far longer to find nothing
  return at and string.match(text, '^"parent":"([^"\\\\]+)"', at)
end
local function all(command, key, list)
  if #list > 0 then redis.call(command, key, unpack(list)) end
end
local function entry(map, name)
  map[name] = map[name] or { ids = {}, keys = {}, owners = {}, bytes = 0 }
  return map[name]
end
local function forgetKept(key, caller, id)
  local kept = prefix .. ':kept:' .. caller .. ':' .. id
  local bytes = redis.call('STRLEN', kept)
  if bytes == 0 then return 0 end
  redis.call('DEL', kept)
  redis.call('ZREM', kepts, key .. ' ' .. bytes)
  return bytes
end
local function forget(keys)
  if #keys == 0 then return end
  local callers, owners, hasKept = {}, {}, redis.call('EXISTS', kepts) == 1
  for i, key in ipairs(keys) do
    local id, caller, owner = string.match(key, '^(.*) (%S+) (%S+)$')
    local of = entry(callers, caller)
    of.ids[#of.ids + 1], of.keys[#of.keys + 1], of.owners[#of.owners + 1] = id, key, owner
  end
  for caller, of in pairs(callers) do
    local records = prefix .. ':calls:' .. caller
    for i, text in ipairs(redis.call('HMGET', records, unpack(of.ids))) do
      local key, owner, parent = of.keys[i], entry(owners, of.owners[i]), parentOf(text)
      if parent then redis.call('ZREM', prefix .. ':inner:' .. parent, key) end
      owner.keys[#owner.keys + 1] = key
      owner.bytes = owner.bytes + ${RECORD_BYTES} + (text and #text or 0)
      if hasKept then owner.bytes = owner.bytes + forgetKept(key, caller, of.ids[i]) end
    end
    redis.call('HDEL', records, unpack(of.ids))
    redis.call('ZREM', prefix .. ':order:' .. caller, unpack(of.ids))
    redis.call('SREM', prefix .. ':open:' .. caller, unpack(of.ids))
  end
  redis.call('ZREM', KEYS[5], unpack(keys))
  redis.call('ZREM', KEYS[6], unpack(keys))
  for owner, of in pairs(owners) do
    local own, bytes = prefix .. ':of:' .. owner, of.bytes
    redis.call('ZREM', own, unpack(of.keys))
    if redis.call('EXISTS', own) == 0 then
      bytes = redis.call('ZSCORE', sizes, owner) or 0
      redis.call('ZREM', sizes, owner)
    else
      redis.call('ZINCRBY', sizes, -bytes, owner)
    end
    redis.call('DECRBY', total, bytes)
  end
end`;

export const commands = {
  /**
   * KEYS: records, order, open, callers, index, ids, sizes, total, kept texts by their end, noted ahead. ARGV: now, prefix, caller, the most calls and bytes
   * of all and the most calls of one effective caller, and then of each record: id, name in the index, effective caller,
   * time, whether it is open, text, parent, request unless it is answered, and texts to be kept, with their milliseconds. No id comes twice. What is kept of an id stays as `stays` says. If there is too much,
   * the effective caller that has most loses its oldest.
   */
  writeCalls: {
    numberOfKeys: 10,
    lua: `${ledger}
local now, caller, maxCalls, maxBytes, maxOwn = tonumber(ARGV[1]), ARGV[3], tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])
local function stays(id, request)
  local kept = redis.call('HGET', KEYS[1], id)
  return kept and (string.find(kept, '"state":"answered"', 1, true) or (string.match(kept, '"request":"([^"]+)"') or request) ~= request)
end
local ids = {}
for at = 7, #ARGV, 10 do ids[#ids + 1] = ARGV[at] end
local known = redis.call('ZMSCORE', KEYS[2], unpack(ids))
local texts, order, index, names, opened, ended, owners, written = {}, {}, {}, {}, {}, {}, {}, 0
for place, id in ipairs(ids) do
  local key, owner, time, isOpen, text, parent, request, keep, keepMs = unpack(ARGV, 10 * place - 2, 10 * place + 6)
  if request == '' or not stays(id, request) then
    local bytes = #text
    local own = owners[owner] or { bytes = 0, list = {} }
    owners[owner] = own
    if known[place] then
      bytes = bytes - redis.call('HSTRLEN', KEYS[1], id)
    else
      index[#index + 1], index[#index + 2] = time, key
      own.list[#own.list + 1], own.list[#own.list + 2] = time, key
      names[#names + 1], names[#names + 2] = 0, key
      order[#order + 1], order[#order + 2] = time, id
      if parent ~= '' then
        local inner = prefix .. ':inner:' .. parent
        redis.call('ZADD', inner, time, key)
        redis.call('PEXPIRE', inner, ${KEY_MS})
      end
      bytes = bytes + ${RECORD_BYTES}
    end
    if keep ~= '' then
      local kept = prefix .. ':kept:' .. caller .. ':' .. id
      local had = redis.call('STRLEN', kept)
      if had > 0 then redis.call('ZREM', kepts, key .. ' ' .. had) end
      redis.call('SET', kept, keep, 'PX', keepMs)
      redis.call('ZADD', kepts, now + keepMs, key .. ' ' .. #keep)
      bytes = bytes + #keep - had
    end
    texts[#texts + 1], texts[#texts + 2] = id, text
    local list = isOpen == '1' and opened or ended
    list[#list + 1] = id
    own.bytes = own.bytes + bytes
    written = written + bytes
  end
end
all('HSET', KEYS[1], texts)
all('ZADD', KEYS[2], order)
all('ZADD', KEYS[5], index)
all('ZADD', KEYS[6], names)
all('SADD', KEYS[3], opened)
all('SREM', KEYS[3], ended)
all('HDEL', KEYS[10], ids)
redis.call('INCRBY', total, written)
for owner, of in pairs(owners) do
  all('ZADD', prefix .. ':of:' .. owner, of.list)
  redis.call('ZINCRBY', sizes, of.bytes, owner)
  redis.call('PEXPIRE', prefix .. ':of:' .. owner, ${KEY_MS})
end
if redis.call('PTTL', KEYS[1]) < ${KEY_MS - 60_000} then
  for i = 1, 9 do if i ~= 4 then redis.call('PEXPIRE', KEYS[i], ${KEY_MS}) end end
  redis.call('ZADD', KEYS[4], ARGV[1], caller)
end
local left = ${MAX_FORGOTTEN}
local function forgetOldest(owner, count)
  local oldest = redis.call('ZRANGE', prefix .. ':of:' .. owner, 0, math.min(count, left) - 1)
  left = #oldest > 0 and left - #oldest or 0
  forget(oldest)
end
while left > 0 do
  local excess = redis.call('ZCARD', KEYS[5]) - maxCalls
  if excess <= 0 and tonumber(redis.call('GET', total)) <= maxBytes then break end
  forgetOldest(redis.call('ZREVRANGE', sizes, 0, 0)[1] or '', math.max(1, math.min(excess, ${AT_ONCE})))
end
for owner in pairs(owners) do
  local excess = redis.call('ZCARD', prefix .. ':of:' .. owner) - maxOwn
  if excess > 0 and left > 0 then forgetOldest(owner, excess) end
end
if not redis.call('SET', prefix .. ':swept', 1, 'NX', 'PX', ${SWEEP_MS}) then return 1 end
for _, member in ipairs(redis.call('ZRANGEBYSCORE', kepts, '-inf', now, 'LIMIT', 0, ${MAX_FORGOTTEN})) do
  local id, of, owner, bytes = string.match(member, '^(.*) (%S+) (%S+) (%d+)$')
  redis.call('ZREM', kepts, member)
  redis.call('DEL', prefix .. ':kept:' .. of .. ':' .. id)
  if redis.call('ZSCORE', sizes, owner) then
    redis.call('ZINCRBY', sizes, -bytes, owner)
    redis.call('DECRBY', total, bytes)
  end
end
forget(redis.call('ZRANGEBYSCORE', KEYS[5], '-inf', now - ${MAX_AGE_MS}, 'LIMIT', 0, ${MAX_FORGOTTEN}))
local before = redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', now - ${MAX_AGE_MS}, 'LIMIT', 0, ${MAX_FORGOTTEN}) -- of a release without the index
if #before > 0 then
  redis.call('HDEL', KEYS[1], unpack(before))
  redis.call('ZREM', KEYS[2], unpack(before))
  redis.call('SREM', KEYS[3], unpack(before))
end
redis.call('ZREMRANGEBYSCORE', KEYS[4], '-inf', now - ${MAX_AGE_MS})
return 1`,
  },
  /**
   * KEYS: a set of the index by time. ARGV: prefix, time and name after which to go on, the time at which to end, how
   * many to look at, then texts of which a record has all, in lower case. Returns how many it looked at, the last one's
   * name and time, and the records.
   */
  findCalls: {
    numberOfKeys: 1,
    lua: `
local prefix, at, from, last, count = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4]), tonumber(ARGV[5])
local rank = from ~= '' and redis.call('ZREVRANK', KEYS[1], from)
local start = rank and rank + 1 or redis.call('ZCOUNT', KEYS[1], '(' .. at, '+inf')
local looked = redis.call('ZREVRANGE', KEYS[1], start, start + count - 1, 'WITHSCORES')
local found = {}
for i = 1, #looked, 2 do
  if tonumber(looked[i + 1]) <= last then return { 0, '', '0', found } end
  local id, caller = string.match(looked[i], '^(.*) (%S+) %S+$')
  local text = redis.call('HGET', prefix .. ':calls:' .. caller, id)
  if text then
    local lower, has = string.lower(text), true
    for part = 6, #ARGV do has = has and string.find(lower, ARGV[part], 1, true) end
    if has then found[#found + 1] = text end
  end
end
return { #looked / 2, looked[#looked - 1] or '', looked[#looked] or '0', found }`,
  },
  /** KEYS: the index by id. ARGV: prefix, first and last name, how many. Returns the records. */
  findCallsById: {
    numberOfKeys: 1,
    lua: `
local found = {}
for _, key in ipairs(redis.call('ZRANGEBYLEX', KEYS[1], ARGV[2], ARGV[3], 'LIMIT', 0, ARGV[4])) do
  local id, caller = string.match(key, '^(.*) (%S+) %S+$')
  local text = redis.call('HGET', ARGV[1] .. ':calls:' .. caller, id)
  if text then found[#found + 1] = text end
end
return found`,
  },
  /** KEYS: noted ahead, callers. ARGV: now, caller, and then id and text of each call. */
  noteCallsAhead: {
    numberOfKeys: 2,
    lua: `
redis.call('HSET', KEYS[1], unpack(ARGV, 3))
if redis.call('PTTL', KEYS[1]) < ${KEY_MS - 60_000} then
  redis.call('PEXPIRE', KEYS[1], ${KEY_MS})
  redis.call('ZADD', KEYS[2], ARGV[1], ARGV[2])
end
return 1`,
  },
  /** KEYS: callers. ARGV: prefix. Returns what was noted ahead of calls that have no record, of all callers. */
  readCallsAhead: {
    numberOfKeys: 1,
    lua: `
local found = {}
for _, caller in ipairs(redis.call('ZRANGE', KEYS[1], 0, -1)) do
  local all = redis.call('HGETALL', ARGV[1] .. ':ahead:' .. caller)
  for at = 1, #all, 2 do
    if redis.call('HEXISTS', ARGV[1] .. ':calls:' .. caller, all[at]) == 0 then found[#found + 1] = all[at + 1] end
  end
end
return found`,
  },
  /** KEYS: records, open, noted ahead. Returns the records without an end, those noted ahead, and what is kept of these, or ''. */
  readOpenCalls: {
    numberOfKeys: 3,
    lua: `
local found, ahead, kept, all = {}, {}, {}, redis.call('HGETALL', KEYS[3])
for _, id in ipairs(redis.call('SMEMBERS', KEYS[2])) do
  local record = redis.call('HGET', KEYS[1], id)
  if record then found[#found + 1] = record end
end
for at = 1, #all, 2 do
  ahead[#ahead + 1], kept[#kept + 1] = all[at + 1], redis.call('HGET', KEYS[1], all[at]) or ''
end
return { found, ahead, kept }`,
  },
  /** KEYS: records, order. ARGV: limit. */
  readRecentCalls: {
    numberOfKeys: 2,
    lua: `
local found = {}
for _, id in ipairs(redis.call('ZREVRANGE', KEYS[2], 0, ARGV[1] - 1)) do
  local record = redis.call('HGET', KEYS[1], id)
  if record then found[#found + 1] = record end
end
return found`,
  },
  ...leaseCommands,
} as const;
