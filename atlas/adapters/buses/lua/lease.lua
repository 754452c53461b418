-- KEYS[1]: the lease. args: holder, ms. Acquires a free lease or renews that of the holder. Returns the current holder.
local held = redis.call('GET', KEYS[1])
if not held or held == args.holder then
  held = args.holder
  redis.call('SET', KEYS[1], held, 'PX', args.ms)
end
return cjson.encode(held)
