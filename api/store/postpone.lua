-- Moves a match's due time, unless it has changed since it was seen.
-- KEYS 1 due set; ARGV 1 match id, 2 the time seen, 3 the new time
local score = redis.call('ZSCORE', KEYS[1], ARGV[1])
if not score or tonumber(score) ~= tonumber(ARGV[2]) then return 0 end
redis.call('ZADD', KEYS[1], ARGV[3], ARGV[1])
return 1
