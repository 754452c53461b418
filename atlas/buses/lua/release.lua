-- KEYS[1]: the lease. given: holder.
if redis.call('GET', KEYS[1]) == given.holder then
  redis.call('DEL', KEYS[1])
end
return 'null'
