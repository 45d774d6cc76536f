import { NAMES } from "./segments.ts";

/** In scripts with the names: the record of a call with its start, or nothing. */
const RECORD = `
local function recordOf(caller, id)
  local n = redis.call('HGET', placesOf(caller), id)
  return n and redis.call('HGET', segmentOf(n), id .. ' ' .. caller)
end`;

export const readingCommands = {
  /**
   * KEYS: segments. ARGV: how many calls to look at, the latest and the earliest start that is meant, the beginning of the id or
   * '', the number of texts, texts of which a record has all, in lower case, and segments. Returns how many segments it
   * looked at, how many calls, and the records.
   */
  scanCalls: {
    numberOfKeys: 1,
    lua: `
local most, latest, earliest, id, parts = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[4], tonumber(ARGV[5])
${NAMES}
local found, looked, read = {}, 0, 0
local function look(text)
  local at = text and tonumber(string.match(text, '^%d+'))
  if not at or at > latest or at < earliest then return end
  local lower = parts > 0 and string.lower(text)
  for part = 6, 5 + parts do
    if not string.find(lower, ARGV[part], 1, true) then return end
  end
  found[#found + 1] = text
end
for place = 6 + parts, #ARGV do
  local segment = segmentOf(ARGV[place])
  local all = redis.call(id == '' and 'HVALS' or 'HKEYS', segment)
  for _, text in ipairs(all) do
    if id == '' then look(text) elseif string.sub(text, 1, #id) == id then look(redis.call('HGET', segment, text)) end
  end
  read, looked = read + 1, looked + #all
  if looked >= most then break end
end
return { read, looked, found }`,
  },
  /** KEYS: segments. ARGV: caller. Returns the records without an end. */
  readOpenCalls: {
    numberOfKeys: 1,
    lua: `
local caller, found = ARGV[1], {}
${NAMES}
${RECORD}
for _, id in ipairs(redis.call('SMEMBERS', outOf(caller))) do found[#found + 1] = recordOf(caller, id) or nil end
return found`,
  },
  /**
   * KEYS: segments. ARGV: caller, id. Returns the record. Where there is none, it returns what the release before has of
   * the call: its record, and what was noted ahead of it.
   */
  readCall: {
    numberOfKeys: 1,
    lua: `
local caller, id = unpack(ARGV)
${NAMES}
${RECORD}
local record = recordOf(caller, id)
if record then return { record, '', '' } end
return { '', redis.call('HGET', P .. ':calls:' .. caller, id) or '', redis.call('HGET', P .. ':ahead:' .. caller, id) or '' }`,
  },
  /**
   * KEYS: segments. ARGV: caller. Returns what the release before has of open calls that have no place here: their
   * records, and what was noted ahead of them.
   */
  readOpenCallsBefore: {
    numberOfKeys: 1,
    lua: `
local caller, found, seen = ARGV[1], {}, {}
${NAMES}
local function add(id, ahead)
  if not seen[id] and redis.call('HEXISTS', placesOf(caller), id) == 0 then
    found[#found + 1] = { redis.call('HGET', P .. ':calls:' .. caller, id) or '', ahead }
    seen[id] = true
  end
end
local ahead = redis.call('HGETALL', P .. ':ahead:' .. caller)
for at = 1, #ahead, 2 do add(ahead[at], ahead[at + 1]) end
for _, id in ipairs(redis.call('SMEMBERS', P .. ':open:' .. caller)) do add(id, '') end
return found`,
  },
} as const;
