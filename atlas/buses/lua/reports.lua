-- KEYS[1]: the list, a hash. Returns [name, text] of each whose time is not over, and forgets the others.
local now = redis.call('TIME')
local found, name = {}, nil
for position, value in ipairs(redis.call('HGETALL', KEYS[1])) do
  if position % 2 == 1 then
    name = value
  else
    local told = cjson.decode(value)
    if told[1] > now[1] * 1000 + now[2] / 1000 then
      found[#found + 1] = { name, told[2] }
    else
      redis.call('HDEL', KEYS[1], name)
    end
  end
end
return list(found)
