-- Lists a token of a player, unless there are too many; those that have expired are taken out.
-- Returns 1 if it is listed now, 0 if the player has as many as can be.
--
-- KEYS 1 the player's tokens
-- ARGV 1 token id, 2 record: when it expires in ms, a space, the rest; 3 the most there may be,
--      4 now in ms, 5 when this token expires in ms
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 1 then return 1 end
local listed = redis.call('HGETALL', KEYS[1])
local count = 0
for i = 1, #listed, 2 do
  if tonumber(string.match(listed[i + 1], '^%d+')) <= tonumber(ARGV[4]) then
    redis.call('HDEL', KEYS[1], listed[i])
  else
    count = count + 1
  end
end
if count >= tonumber(ARGV[3]) then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[5]) - tonumber(ARGV[4]) then
  redis.call('PEXPIREAT', KEYS[1], ARGV[5])
end
return 1
