-- KEYS[1]: the hash of all heartbeats. Returns [name, text] of each heartbeat that has not expired; removes the others.
local now = redis.call('TIME')
local found, name = {}, nil
for position, value in ipairs(redis.call('HGETALL', KEYS[1])) do
  if position % 2 == 1 then
    name = value
  else
    local sent = cjson.decode(value)
    if sent[1] > now[1] * 1000 + now[2] / 1000 then
      found[#found + 1] = { name, sent[2] }
    else
      redis.call('HDEL', KEYS[1], name)
    end
  end
end
return list(found)
