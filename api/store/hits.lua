-- Counts hits in a window that begins with the first. Returns the count, and how long it lasts, ms.
-- KEYS 1 the hits; ARGV 1 how many, 2 length of the window in ms
local count = redis.call('INCRBY', KEYS[1], ARGV[1])
if count == tonumber(ARGV[1]) then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
return {count, redis.call('PTTL', KEYS[1])}
