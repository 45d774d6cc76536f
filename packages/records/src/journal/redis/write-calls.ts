import { KEY_MS, NAMES, PUTTING } from "./segments.ts";

/** What else there is of a record in the arguments of `writeCalls`. */
export const Has = { NoEnd: 1, Parent: 2, Request: 4, Texts: 8 } as const;

/**
 * KEYS: segments. ARGV: now, caller, the most calls and bytes of all, the most calls of one effective caller, those of a
 * segment, its bytes, and the number of records. Then of each the sum of what it has, its id, its effective caller, and
 * its start with its text. In the same order follows what they have: a parent, a request or '' if it is answered, and
 * texts to be kept with their milliseconds. No id comes twice. What is kept of an id stays as `stays` says. Returns 1 if
 * there is too much now, which `forgetCalls` mends.
 */
export const writeCalls = {
  numberOfKeys: 1,
  lua: `
local now, caller = ARGV[1], ARGV[2]
local mostCalls, mostBytes, mostOwn = tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
local segmentCalls, segmentBytes = tonumber(ARGV[6]), tonumber(ARGV[7])
${NAMES}
${PUTTING}
local function stays(kept, request)
  return string.find(kept, '"state":"answered"', 1, true) or (string.match(kept, '"request":"([^"]+)"') or request) ~= request
end
local function keep(id, owner, kept, keptMs)
  local key, name = P .. ':kept:' .. caller .. ':' .. id, id .. ' ' .. caller .. ' ' .. owner .. ' '
  local had = redis.call('STRLEN', key)
  local more = #kept - (redis.call('ZREM', texts, name .. had) == 1 and had or 0)
  redis.call('SET', key, kept, 'PX', keptMs)
  redis.call('ZADD', texts, now + keptMs, name .. #kept)
  redis.call('HINCRBY', shares, owner, more)
  for _, list in ipairs({ texts, shares }) do redis.call('PEXPIRE', list, ${KEY_MS}) end
  taken = taken + more
end
local function change(n, id, text, had)
  local change = changeOf(n)
  local fields = change.fields
  fields[#fields + 1], fields[#fields + 2] = id .. ' ' .. caller, text
  change.bytes = change.bytes + #text - had
  return change
end
local ids, opened, ended, count = {}, {}, {}, tonumber(ARGV[8])
local more = 4 * count + 9
local function following(is)
  if not is then return nil end
  more = more + 1
  return ARGV[more - 1]
end
for place = 1, count do ids[place] = ARGV[4 * place + 6] end
for place, n in ipairs(redis.call('HMGET', placesOf(caller), unpack(ids))) do
  local has, id, owner, text = unpack(ARGV, 4 * place + 5, 4 * place + 8)
  local parent, request, kept, keptMs, isLeft = nil, nil, nil, nil, false
  local isOpen = has == '${Has.NoEnd}'
  if not isOpen and has ~= '0' then
    has = tonumber(has)
    isOpen, parent, request = has % 2 == ${Has.NoEnd}, following(has % 4 >= ${Has.Parent}), following(has % 8 >= ${Has.Request})
    kept, keptMs = following(has >= ${Has.Texts}), following(has >= ${Has.Texts})
  end
  if not n then
    local new = add(owner, caller, id, text, startOf(text))
    if parent then
      redis.call('SADD', P .. ':segments:inner:' .. parent, new)
      redis.call('PEXPIRE', P .. ':segments:inner:' .. parent, ${KEY_MS})
    end
  elseif request then
    local known = redis.call('HGET', segmentOf(n), id .. ' ' .. caller) or ''
    isLeft = request ~= '' and stays(known, request)
    if not isLeft then change(n, id, text, #known).newest = startOf(text) end
  else
    change(n, id, text, redis.call('HSTRLEN', segmentOf(n), id .. ' ' .. caller))
  end
  if not isLeft then
    local list = isOpen and opened or n and ended
    if list then list[#list + 1] = id end
    if kept then keep(id, owner, kept, keptMs) end
  end
end
if #opened > 0 then
  redis.call('SADD', outOf(caller), unpack(opened))
  redis.call('PEXPIRE', outOf(caller), ${KEY_MS})
end
if #ended > 0 then redis.call('SREM', outOf(caller), unpack(ended)) end
flush()
for _, calls in pairs(has.of) do
  if calls > mostOwn then return 1 end
end
return (has.calls > mostCalls or has.bytes > mostBytes) and 1 or 0`,
};
