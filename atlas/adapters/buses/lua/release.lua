-- KEYS[1]: the lease. args: holder.
if redis.call('GET', KEYS[1]) == args.holder then
  redis.call('DEL', KEYS[1])
end
return 'null'
