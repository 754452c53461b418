-- KEYS: the vectors by key, the times of use. args: keys. Returns the vectors in order, "" for a miss.
local found = redis.call('HMGET', KEYS[1], unpack(args.keys))
local now = redis.call('TIME')[1]
local times = {}
for position, key in ipairs(args.keys) do
  if found[position] then
    times[#times + 1] = now
    times[#times + 1] = key
  else
    found[position] = ''
  end
end
if #times > 0 then
  redis.call('ZADD', KEYS[2], unpack(times))
end
return list(found)
