-- KEYS[1]: the lease. args: holder, ms. A free lease is taken, an own one kept. Returns who holds it now.
local held = redis.call('GET', KEYS[1])
if not held or held == args.holder then
  held = args.holder
  redis.call('SET', KEYS[1], held, 'PX', args.ms)
end
return cjson.encode(held)
