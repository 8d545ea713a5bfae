-- Begins a series, unless its key has made one or its owner has too many running.
-- Returns the id of the series, or '' if there are too many.
--
-- KEYS 1 series, 2 log, 3 due set, 4 the owner's running series, 5 idempotency key
-- ARGV 1 id, 2 now in ms, 3 spec, 4 owner, 5 secret, 6 matches, 7 matches about to be sent,
--      8 due time in ms, 9 seconds to keep it, 10 running series allowed, 11 first sums,
--      12 seconds to remember the key or ''
if ARGV[12] ~= '' then
  local made = redis.call('GET', KEYS[5])
  if made then return made end
end
if redis.call('EXISTS', KEYS[1]) == 1 then return ARGV[1] end -- this very command, repeated
if redis.call('ZCOUNT', KEYS[4], '(' .. ARGV[2], '+inf') >= tonumber(ARGV[10]) then return '' end
-- First what needs memory: a Redis that has none refuses a script at its first write alone.
redis.call('HSET', KEYS[1], 'status', 'RUNNING', 'at', ARGV[2], 'spec', ARGV[3], 'owner', ARGV[4],
  'secret', ARGV[5], 'matches', ARGV[6], 'sent', ARGV[7])
redis.call('EXPIRE', KEYS[1], ARGV[9])
redis.call('XADD', KEYS[2], '1-0', 's', ARGV[11], 'a', ARGV[2])
redis.call('EXPIRE', KEYS[2], ARGV[9])
redis.call('ZADD', KEYS[3], ARGV[8], ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[4], '-inf', ARGV[2])
redis.call('ZADD', KEYS[4], ARGV[2] + 1000 * ARGV[9], ARGV[1])
redis.call('EXPIRE', KEYS[4], ARGV[9])
if ARGV[12] ~= '' then redis.call('SET', KEYS[5], ARGV[1], 'EX', ARGV[12]) end
return ARGV[1]
