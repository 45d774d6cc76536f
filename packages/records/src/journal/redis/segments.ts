import { MAX_AGE_MS } from "../call-record.ts";

// The calls of an effective caller lie in segments, one after the other: hashes of `id caller` -> start and record. The
// first note of a call puts it into the newest segment, and there it stays. Segments are forgotten as a whole, so a note
// costs the same however many calls are kept. For each caller a hash says in which segment a call is, and a set which
// calls have no end. Redis runs a script whole or not at all, so all of these agree. A script reaches keys of its own
// making; the braces in their names put them into one slot.

/** A segment has at most this part of what one effective caller may have: of its calls, its bytes, or its time. */
export const SEGMENTS = 20;
const SPAN_MS = Math.ceil(MAX_AGE_MS / SEGMENTS);
/** Keys that nobody writes end after this long. What is in them has been forgotten by then. */
export const KEY_MS = MAX_AGE_MS + 3_600_000;
/** A segment outlives the list that has it, so that a process which forgets it finds what is in it. */
export const SEGMENT_MS = 2 * KEY_MS + SPAN_MS;
/** What Redis needs for a record besides its text: measured with records of 600 bytes and ids of 32 digits. */
const RECORD_BYTES = 300;

/**
 * The names of the keys, for scripts with one key, the segments by their newest start. Hashes say of each its oldest
 * start, its bytes and its effective caller. Others have the calls of each effective caller, the calls and bytes of all,
 * and the bytes of texts that are kept; these are sorted by their end.
 */
export const NAMES = `
local P = string.sub(KEYS[1], 1, -10) -- without ":segments"
local segments, begins, sizes, owners = KEYS[1], P .. ':segments:begins', P .. ':segments:sizes', P .. ':segments:owners'
local counts, all, texts, shares = P .. ':segments:calls', P .. ':segments:all', P .. ':texts', P .. ':texts:shares'
local function segmentOf(n) return P .. ':segment:' .. n end
local function listOf(owner) return P .. ':segments:of:' .. owner end
local function placesOf(caller) return P .. ':places:' .. caller end
local function outOf(caller) return P .. ':out:' .. caller end
local function namedBy(caller) return P .. ':segments:by:' .. caller end`;

/** Puts records into segments, in scripts with the names: what `add` gathers is there after `flush`. */
export const PUTTING = `
local current, changes, added, taken, has = {}, {}, {}, 0, { of = {}, bytes = 0, calls = 0 }
local function segmentFor(owner, at)
  local of = current[owner]
  if not of then
    local n = redis.call('LINDEX', listOf(owner), -1)
    if n then
      of = {
        n = n, calls = redis.call('HLEN', segmentOf(n)), bytes = tonumber(redis.call('HGET', sizes, n)),
        oldest = tonumber(redis.call('HGET', begins, n)),
      }
    end
  end
  if not of or of.calls >= segmentCalls or of.bytes >= segmentBytes or at > of.oldest + ${SPAN_MS} then
    of = { n = tostring(redis.call('INCR', P .. ':segments:count')), calls = 0, bytes = 0, oldest = at, isNew = true }
    redis.call('RPUSH', listOf(owner), of.n)
    redis.call('PEXPIRE', listOf(owner), ${SEGMENT_MS})
    redis.call('HSET', owners, of.n, owner)
  end
  current[owner] = of
  return of
end
local function startOf(text) return tonumber(string.match(text, '^%d+')) end
local function changeOf(n)
  local change = changes[n] or { fields = {}, places = {}, bytes = 0 }
  changes[n] = change
  return change
end
local function add(owner, caller, id, text, at)
  local of, bytes = segmentFor(owner, at), #text + ${RECORD_BYTES}
  local change = changeOf(of.n)
  local fields, places = change.fields, change.places[caller] or {}
  change.places[caller] = places
  places[#places + 1], places[#places + 2] = id, of.n
  fields[#fields + 1], fields[#fields + 2] = id .. ' ' .. caller, text
  change.newest = math.max(change.newest or at, at)
  if at < of.oldest or of.isNew then change.oldest, of.oldest = at, at end
  if of.isNew then change.isNew, of.isNew = true, false end
  of.calls, of.bytes, change.bytes = of.calls + 1, of.bytes + bytes, change.bytes + bytes
  added[owner] = (added[owner] or 0) + 1
  return of.n
end
local function begin(n)
  redis.call('PEXPIRE', segmentOf(n), ${SEGMENT_MS})
  for _, key in ipairs({ segments, begins, sizes, owners, counts, all, P .. ':segments:count' }) do
    redis.call('PEXPIRE', key, ${KEY_MS})
  end
end
local function flush()
  local bytes, calls = 0, 0
  for n, change in pairs(changes) do
    redis.call('HSET', segmentOf(n), unpack(change.fields))
    if change.newest then redis.call('ZADD', segments, 'GT', change.newest, n) end
    if change.oldest then redis.call('HSET', begins, n, change.oldest) end
    redis.call('HINCRBY', sizes, n, change.bytes)
    bytes = bytes + change.bytes
    for caller, places in pairs(change.places) do
      redis.call('HSET', placesOf(caller), unpack(places))
      if redis.call('SADD', namedBy(caller), n) == 1 then
        redis.call('PEXPIRE', namedBy(caller), ${SEGMENT_MS})
        redis.call('PEXPIRE', placesOf(caller), ${SEGMENT_MS})
        redis.call('ZADD', P .. ':callers', now, caller)
        redis.call('PEXPIRE', P .. ':callers', ${SEGMENT_MS})
      end
    end
  end
  for owner, count in pairs(added) do
    has.of[owner] = redis.call('HINCRBY', counts, owner, count)
    calls = calls + count
  end
  has.bytes, has.calls = redis.call('HINCRBY', all, 'bytes', bytes + taken), redis.call('HINCRBY', all, 'calls', calls)
  for n, change in pairs(changes) do
    if change.isNew then begin(n) end
  end
  changes, added, taken = {}, {}, 0
end`;
