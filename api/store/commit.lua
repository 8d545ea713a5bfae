-- Appends one commit to a match's log: all of it at the expected version, or nothing.
-- Returns 0 if the log's tail or the idempotency key forbids it; else for how many ms the log is
-- kept from now on, 1 if that was not looked at.
--
-- A command in here costs as much as all the rest of a small one from outside, so none is carried
-- out that would change nothing. Keys and arguments may be missing from the end.
--
-- KEYS 1 log, 2 bell, 3 due set, 4 open matches, 5 idempotency key, 6 list left, 7 list entered,
--      8 list of all
-- ARGV 1 match id, 2 version to write, 3 record, 4 the record's nonce,
--      5 the nonce of the record that it follows, or '' if that is any,
--      6 due time in ms, '' if nothing is owed, '-' if nothing was before either,
--      7 ms to keep the log at least, '-' if it is known to be kept for so long,
--      8 ms to keep it if it is not, 9 when the match will then expire in ms, '' if it is over,
--      10 the span that it is made under, or '', 11 'l' if this changes the lobby, or '',
--      12 what the key is to remember or '', 13 seconds to remember it,
--      14 created at in ms if the lists change
local tail = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)[1]
if (tail and tail[1] or '0-0') ~= (ARGV[2] - 1) .. '-0' then return 0 end
-- A log that lost its end may have grown another one.
if ARGV[5] ~= '' and not string.find(tail[2][2], '"n":"' .. ARGV[5] .. '"', 1, true) then
  return 0
end
local remember = (ARGV[12] or '') ~= ''
if remember and redis.call('EXISTS', KEYS[5]) == 1 then return 0 end
redis.call('XADD', KEYS[1], ARGV[2] .. '-0', 'c', ARGV[3])
if remember then redis.call('SET', KEYS[5], ARGV[12], 'EX', ARGV[13]) end
local due, keep, kept = ARGV[6] or '-', ARGV[7] or '-', 1
if due == '' then
  redis.call('ZREM', KEYS[3], ARGV[1])
elseif due ~= '-' then
  redis.call('ZADD', KEYS[3], due, ARGV[1])
end
if keep ~= '-' then
  kept = redis.call('PTTL', KEYS[1])
  local over = ARGV[9] == ''
  if over or kept < tonumber(keep) or kept > tonumber(ARGV[8]) then
    redis.call('PEXPIRE', KEYS[1], ARGV[8])
    kept = tonumber(ARGV[8])
    if over then
      redis.call('ZREM', KEYS[4], ARGV[1])
    else
      redis.call('ZADD', KEYS[4], ARGV[9], ARGV[1])
    end
  end
end
if ARGV[14] then
  redis.call('ZREM', KEYS[6], ARGV[1])
  redis.call('ZADD', KEYS[7], ARGV[14], ARGV[1])
  redis.call('ZADD', KEYS[8], ARGV[14], ARGV[1])
end
local rung = {'*', 'm', ARGV[1], 'n', ARGV[4]}
if (ARGV[10] or '') ~= '' then
  rung[6], rung[7] = 'p', ARGV[10]
end
if (ARGV[11] or '') ~= '' then
  rung[#rung + 1], rung[#rung + 2] = 'l', ARGV[1]
end
if ARGV[2] % 16 == 1 then -- the first commit of a match too, however few follow
  redis.call('XADD', KEYS[2], 'MAXLEN', '~', 4096, unpack(rung))
else
  redis.call('XADD', KEYS[2], unpack(rung))
end
return kept
