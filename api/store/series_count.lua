-- Counts a match of a running series, once: its step, its sums, its replay, and what is sent next.
-- Returns -1 if nothing was changed, else the number to be sent next, 0 if all were sent.
--
-- KEYS 1 series, 2 log, 3 done, 4 deals, 5 replays, 6 due set, 7 the owner's running series, 8 bell
-- ARGV 1 id, 2 number, 3 now in ms, 4 result, 5 deal, 6 matches of a deal, 7 what is added,
--      8 replay or '', 9 due time in ms, 10 seconds to keep it, 11 the same once it is over
local series = redis.call('HMGET', KEYS[1], 'status', 'matches', 'sent')
local number, matches, sent = tonumber(ARGV[2]), tonumber(series[2]), tonumber(series[3])
if series[1] ~= 'RUNNING' or number < 1 or number > matches then return -1 end
if redis.call('SETBIT', KEYS[3], number, 1) == 1 then return -1 end

local function numbers(text)
  local found = {}
  for word in string.gmatch(text or '', '%S+') do found[#found + 1] = tonumber(word) end
  return found
end
local function words(found)
  for i, value in ipairs(found) do found[i] = string.format('%.0f', value) end
  return table.concat(found, ' ')
end

-- As engine.standings.add: whole numbers, far below where doubles lose them.
local tail = redis.call('XREVRANGE', KEYS[2], '+', '-', 'COUNT', 1)[1]
local sums, values = numbers(tail[2][2]), numbers(ARGV[7])
local deal = numbers(redis.call('HGET', KEYS[4], ARGV[5]) or '')
local m = deal[1] or 0
sums[1] = sums[1] + 1
sums[2] = sums[2] + (m == 0 and 1 or 0)
sums[3] = sums[3] + 2 * m + 1
deal[1] = m + 1
for i, value in ipairs(values) do
  local x = deal[i + 1] or 0
  sums[3 * i + 1] = sums[3 * i + 1] + value
  sums[3 * i + 2] = sums[3 * i + 2] + (x + value) * (x + value) - x * x
  sums[3 * i + 3] = sums[3 * i + 3] + (x + value) * (m + 1) - x * m
  deal[i + 1] = x + value
end
local over = sums[1] == matches
if m + 1 == tonumber(ARGV[6]) then
  redis.call('HDEL', KEYS[4], ARGV[5])
else
  redis.call('HSET', KEYS[4], ARGV[5], words(deal))
end

local version = tonumber(string.match(tail[1], '^%d+')) + 1
redis.call('XADD', KEYS[2], version .. '-0', 's', words(sums), 'a', ARGV[3], 'r', ARGV[4])
if ARGV[8] ~= '' then redis.call('HSET', KEYS[5], number, ARGV[8]) end
local next = 0
if sent < matches then next = redis.call('HINCRBY', KEYS[1], 'sent', 1) end
if over then
  redis.call('HSET', KEYS[1], 'status', 'FINISHED')
  redis.call('ZREM', KEYS[6], ARGV[1])
  redis.call('ZREM', KEYS[7], ARGV[1])
else
  redis.call('ZADD', KEYS[6], ARGV[9], ARGV[1])
  redis.call('ZADD', KEYS[7], ARGV[3] + 1000 * ARGV[10], ARGV[1])
  redis.call('EXPIRE', KEYS[7], ARGV[10])
end
for i = 1, 5 do redis.call('EXPIRE', KEYS[i], over and ARGV[11] or ARGV[10]) end
redis.call('XADD', KEYS[8], 'MAXLEN', '~', 4096, '*', 'm', ARGV[1])
return next
