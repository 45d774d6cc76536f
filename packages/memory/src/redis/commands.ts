/** So many entries give way to others at once, as a script must be over soon. */
const MAX_GIVING_WAY = 4_096;

/**
 * Reads the head of an entry's facts: when it was stored and ends, its bytes, its kind, its width, and the name of its
 * text.
 */
const HEAD = `
local function head(facts)
  local storedAt, expiresAt, bytes, kind, width, name = string.match(facts, '^(%d+):(%d+):(%d+):(%a):(%d):(%x+):')
  return {storedAt = tonumber(storedAt), expiresAt = tonumber(expiresAt), bytes = tonumber(bytes), kind = kind, width = tonumber(width), name = name}
end
local function milliseconds()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end
local function countOf(kind, key)
  return kind .. string.match(key, '^[^/]*/?[^/]*')
end`;

/** Removes an entry from every count. KEYS: facts, keys, ends, counts. */
const REMOVE = `
local function remove(key, facts)
  local old = head(facts)
  redis.call('HDEL', KEYS[1], key)
  redis.call('ZREM', KEYS[2], key)
  redis.call('ZREM', KEYS[3], key)
  redis.call('HINCRBY', KEYS[4], 'bytes', -old.bytes)
  if redis.call('HINCRBY', KEYS[4], countOf(old.kind, key), -1) <= 0 then redis.call('HDEL', KEYS[4], countOf(old.kind, key)) end
  return old
end
local function removeExpired(now, most)
  for _, key in ipairs(redis.call('ZRANGEBYSCORE', KEYS[3], '-inf', now, 'LIMIT', 0, most)) do
    local facts = redis.call('HGET', KEYS[1], key)
    if facts then remove(key, facts) else redis.call('ZREM', KEYS[3], key) end
  end
end`;

/**
 * The scripts of working memory. Each is of one owner. Texts lie under names of their own, which are written once. So a
 * read in several steps gets one text or none, and a text is there in full before anything leads to it.
 */
export const commands = {
  /**
   * KEYS: facts, keys, ends, counts. ARGV: prefix of texts' names, maxEntries, maxChunks, maxBytes, how long all of
   * this is kept, then for each entry: key, time to live, bytes, kind, width, name, further facts, the name that its
   * key must have now ("-" for none, "" for any), and its text, or "" if that lies there. Answers "", or the bound that
   * would be exceeded: its kind, its namespace, and the milliseconds until the next entry expires. An entry of another
   * name is a bound, too: "v", its key, and its name. Where there are too many bytes, entries that end first give way,
   * unless these would not fit alone.
   */
  putMemory: {
    numberOfKeys: 4,
    lua: `${HEAD}${REMOVE}
local now = milliseconds()
removeExpired(now, 5000)
local limits = {e = tonumber(ARGV[2]), c = tonumber(ARGV[3])}
local bytes = tonumber(redis.call('HGET', KEYS[4], 'bytes') or '0')
local counts = {}
local own, ownBytes = {}, 0
local function add(kind, key, by)
  local count = countOf(kind, key)
  counts[count] = (counts[count] or tonumber(redis.call('HGET', KEYS[4], count) or '0')) + by
end
for at = 6, #ARGV, 9 do
  local facts = redis.call('HGET', KEYS[1], ARGV[at])
  local there = facts and head(facts)
  local name = there and there.expiresAt > now and there.name or '-'
  if ARGV[at + 7] ~= '' and ARGV[at + 7] ~= name then return {'v', ARGV[at], name} end
  if there then
    bytes = bytes - there.bytes
    add(there.kind, ARGV[at], -1)
  end
  own[ARGV[at]] = true
  ownBytes = ownBytes + tonumber(ARGV[at + 2])
  bytes = bytes + tonumber(ARGV[at + 2])
  add(ARGV[at + 3], ARGV[at], 1)
end
local exceeded = false
for count, value in pairs(counts) do
  if value > limits[string.sub(count, 1, 1)] then exceeded = {string.sub(count, 1, 1), string.sub(count, 2)} end
end
if not exceeded and bytes > tonumber(ARGV[4]) and ownBytes <= tonumber(ARGV[4]) then
  for _, key in ipairs(redis.call('ZRANGE', KEYS[3], 0, ${MAX_GIVING_WAY - 1})) do
    if bytes <= tonumber(ARGV[4]) then break end
    local facts = redis.call('HGET', KEYS[1], key)
    if facts and not own[key] then
      local old = remove(key, facts)
      redis.call('UNLINK', ARGV[1] .. old.name)
      bytes = bytes - old.bytes
    end
  end
end
if not exceeded and bytes > tonumber(ARGV[4]) then exceeded = {'b', ''} end
if exceeded then
  local first = redis.call('ZRANGE', KEYS[3], 0, 0, 'WITHSCORES')
  return {exceeded[1], exceeded[2], first[2] and string.format('%.0f', math.max(0, tonumber(first[2]) - now)) or ''}
end
for at = 6, #ARGV, 9 do
  local key = ARGV[at]
  local facts = redis.call('HGET', KEYS[1], key)
  if facts then redis.call('DEL', ARGV[1] .. remove(key, facts).name) end
  local ends = string.format('%.0f', now + tonumber(ARGV[at + 1]))
  redis.call('HSET', KEYS[1], key, string.format('%.0f', now) .. ':' .. ends .. ':' .. table.concat({ARGV[at + 2], ARGV[at + 3], ARGV[at + 4], ARGV[at + 5], ARGV[at + 6]}, ':'))
  redis.call('ZADD', KEYS[2], 0, key)
  redis.call('ZADD', KEYS[3], ends, key)
  redis.call('HINCRBY', KEYS[4], 'bytes', ARGV[at + 2])
  redis.call('HINCRBY', KEYS[4], countOf(ARGV[at + 3], key), 1)
  local name = ARGV[1] .. ARGV[at + 5]
  if ARGV[at + 8] ~= '' or redis.call('PEXPIRE', name, ARGV[at + 1]) == 0 then redis.call('SET', name, ARGV[at + 8], 'PX', ARGV[at + 1]) end
end
for _, key in ipairs(KEYS) do redis.call('PEXPIRE', key, ARGV[5]) end
return ''`,
  },
  /**
   * KEYS: facts. ARGV: prefix of texts' names, key, offset and length in characters. Answers the time, the facts and
   * that part of the text.
   */
  loadMemory: {
    numberOfKeys: 1,
    lua: `${HEAD}
local facts = redis.call('HGET', KEYS[1], ARGV[2])
if not facts then return false end
local now = milliseconds()
local entry = head(facts)
if entry.expiresAt <= now then return false end
local name = ARGV[1] .. entry.name
local offset = tonumber(ARGV[3]) * entry.width
if redis.call('EXISTS', name) == 0 then return false end
return {string.format('%.0f', now), facts, redis.call('GETRANGE', name, offset, offset + tonumber(ARGV[4]) * entry.width - 1)}`,
  },
  /** KEYS: facts, keys, ends, counts. ARGV: prefix of texts' names, key. Answers whether it was there. */
  deleteMemory: {
    numberOfKeys: 4,
    lua: `${HEAD}${REMOVE}
local facts = redis.call('HGET', KEYS[1], ARGV[2])
if not facts then return 0 end
local old = remove(ARGV[2], facts)
redis.call('DEL', ARGV[1] .. old.name)
return old.expiresAt > milliseconds() and 1 or 0`,
  },
  /**
   * KEYS: facts, keys, ends, counts. ARGV: the first key, the end of keys that begin with the prefix, how many to pass
   * over, how many. Answers the time, then key and facts of each.
   */
  listMemory: {
    numberOfKeys: 4,
    lua: `${HEAD}${REMOVE}
local now = milliseconds()
removeExpired(now, 1000)
local found = {string.format('%.0f', now)}
for _, key in ipairs(redis.call('ZRANGEBYLEX', KEYS[2], ARGV[1], ARGV[2], 'LIMIT', ARGV[3], ARGV[4])) do
  found[#found + 1] = key
  found[#found + 1] = redis.call('HGET', KEYS[1], key) or ''
end
return found`,
  },
} as const;
