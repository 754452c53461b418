-- KEYS: the vectors by key, the times of use. args: items ([key, vector] each), most. Evicts the least recently used.
local now = redis.call('TIME')[1]
for _, item in ipairs(args.items) do
  redis.call('HSET', KEYS[1], item[1], item[2])
  redis.call('ZADD', KEYS[2], now, item[1])
end
local over = redis.call('ZCARD', KEYS[2]) - args.most
if over > 0 then
  local popped = redis.call('ZPOPMIN', KEYS[2], math.min(over, 1000))
  for position = 1, #popped, 2 do
    redis.call('HDEL', KEYS[1], popped[position])
  end
end
return list({})
