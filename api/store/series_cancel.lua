-- Cancels a running series: nothing is counted after it. Returns 1, or 0 if it was over.
--
-- KEYS 1 series, 2 log, 3 done, 4 deals, 5 replays, 6 due set, 7 the owner's running series, 8 bell
-- ARGV 1 id, 2 now in ms, 3 seconds to keep it
if redis.call('HGET', KEYS[1], 'status') ~= 'RUNNING' then return 0 end
redis.call('HSET', KEYS[1], 'status', 'CANCELLED')
local tail = redis.call('XREVRANGE', KEYS[2], '+', '-', 'COUNT', 1)[1]
local version = tonumber(string.match(tail[1], '^%d+')) + 1
redis.call('XADD', KEYS[2], version .. '-0', 's', tail[2][2], 'a', ARGV[2], 'x', 1)
redis.call('ZREM', KEYS[6], ARGV[1])
redis.call('ZREM', KEYS[7], ARGV[1])
for i = 1, 5 do redis.call('EXPIRE', KEYS[i], ARGV[3]) end
redis.call('XADD', KEYS[8], 'MAXLEN', '~', 4096, '*', 'm', ARGV[1])
return 1
