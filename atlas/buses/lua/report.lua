-- KEYS[1]: the list, a hash. args: name, text, ms. Beside each text stands the time at which it ends, in ms.
local now = redis.call('TIME')
redis.call('HSET', KEYS[1], args.name, cjson.encode({ now[1] * 1000 + now[2] / 1000 + args.ms, args.text }))
return 'null'
