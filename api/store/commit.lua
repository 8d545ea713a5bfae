-- Appends one commit to a match's log: all of it at the expected version, or nothing.
-- Returns 1 if it was written, 0 if the log's tail or the idempotency key forbids it.
--
-- KEYS 1 log, 2 due set, 3 bell, 4 idempotency key, 5 list left, 6 list entered, 7 list of all,
--      8 open matches
-- ARGV 1 match id, 2 version to write, 3 record, 4 seconds to keep the log,
--      5 due time in ms or '', 6 what the key is to remember or '', 7 seconds to remember it,
--      8 created at in ms or '' if the lists stay as they are,
--      9 'l' if this changes the lobby, else '', 10 the record's nonce,
--      11 the nonce of the record that it follows, or '' if that is any,
--      12 the span that it is made under, or '',
--      13 when the match will expire in ms, or '' if it is over
local tail = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)
local version = 0
if tail[1] then version = tonumber(string.match(tail[1][1], '^%d+')) end
if version + 1 ~= tonumber(ARGV[2]) then return 0 end
-- A log that lost its end may have grown another one.
if ARGV[11] ~= '' and not string.find(tail[1][2][2], '"n":"' .. ARGV[11] .. '"', 1, true) then
  return 0
end
if ARGV[6] ~= '' and redis.call('EXISTS', KEYS[4]) == 1 then return 0 end
redis.call('XADD', KEYS[1], ARGV[2] .. '-0', 'c', ARGV[3])
if ARGV[6] ~= '' then redis.call('SET', KEYS[4], ARGV[6], 'EX', ARGV[7]) end
redis.call('EXPIRE', KEYS[1], ARGV[4])
if ARGV[5] ~= '' then
  redis.call('ZADD', KEYS[2], ARGV[5], ARGV[1])
else
  redis.call('ZREM', KEYS[2], ARGV[1])
end
if ARGV[8] ~= '' then
  redis.call('ZREM', KEYS[5], ARGV[1])
  redis.call('ZADD', KEYS[6], ARGV[8], ARGV[1])
  redis.call('ZADD', KEYS[7], ARGV[8], ARGV[1])
end
if ARGV[13] ~= '' then
  redis.call('ZADD', KEYS[8], ARGV[13], ARGV[1])
else
  redis.call('ZREM', KEYS[8], ARGV[1])
end
local rung = {'m', ARGV[1], 'n', ARGV[10]}
if ARGV[9] ~= '' then
  rung[5] = ARGV[9]
  rung[6] = ARGV[1]
end
if ARGV[12] ~= '' then
  rung[#rung + 1] = 'p'
  rung[#rung + 1] = ARGV[12]
end
redis.call('XADD', KEYS[3], 'MAXLEN', '~', 4096, '*', unpack(rung))
return 1
