-- KEYS[1]: the lease. given: holder, ms. A free lease is taken, an own one kept. Returns who holds it now.
local held = redis.call('GET', KEYS[1])
if not held or held == given.holder then
  held = given.holder
  redis.call('SET', KEYS[1], held, 'PX', given.ms)
end
return cjson.encode(held)
