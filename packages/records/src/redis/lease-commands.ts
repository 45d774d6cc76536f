/** A fence is remembered for so long after its lease was held last. */
const FENCE_KEPT_MS = 8 * 24 * 3600 * 1000;

/** Leases in Lua: Redis runs a script whole or not at all. For any store that has one, beside what else it keeps. */
export const leaseCommands = {
  /**
   * KEYS: lease, fence. ARGV: owner, leaseMs. Takes a free lease, renews the owner's. Returns whose it is, and its
   * fence.
   */
  holdLease: {
    numberOfKeys: 2,
    lua: `
local owner = redis.call('GET', KEYS[1])
local fence = tonumber(redis.call('GET', KEYS[2]) or '0')
if owner and owner ~= ARGV[1] then return {owner, string.format('%.0f', fence)} end
if not owner then
  local time = redis.call('TIME')
  fence = math.max(fence + 1, time[1] * 1000 + math.floor(time[2] / 1000))
end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
redis.call('SET', KEYS[2], string.format('%.0f', fence), 'PX', ${FENCE_KEPT_MS})
return {ARGV[1], string.format('%.0f', fence)}`,
  },
  /** KEYS: lease. ARGV: owner. */
  releaseLease: {
    numberOfKeys: 1,
    lua: `
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end
return 0`,
  },
} as const;
