-- Counts hits in a window that begins with the first. Returns the count, and how long it lasts, ms.
-- KEYS 1 the hits; ARGV 1 how many, 2 length of the window in ms
local left = redis.call('PTTL', KEYS[1])
if left <= 0 then -- none yet, or in its last millisecond: who asks again at once must not meet it
  redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
  return {tonumber(ARGV[1]), tonumber(ARGV[2])}
end
return {redis.call('INCRBY', KEYS[1], ARGV[1]), left}
