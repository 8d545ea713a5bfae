-- Says that somebody is at work, by the clock of Redis, which all share.
-- KEYS 1 the pulses; ARGV 1 who
-- Returns the time in ms; when the API and the sweeper were last at work before; the last outage.
local time = redis.call('TIME')
local now = string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000))
local before = redis.call('HMGET', KEYS[1], 'api', 'sweeper', 'since', 'until')
redis.call('HSET', KEYS[1], ARGV[1], now)
return {now, before[1], before[2], before[3], before[4]}
