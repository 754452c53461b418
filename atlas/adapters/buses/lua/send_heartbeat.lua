-- KEYS[1]: the hash of all heartbeats; KEYS[2]: the heartbeat's own key. args: name, text, ms. Each text in the hash
-- carries the time at which it expires, in ms.
local now = redis.call('TIME')
redis.call('HSET', KEYS[1], args.name, cjson.encode({ now[1] * 1000 + now[2] / 1000 + args.ms, args.text }))
redis.call('SET', KEYS[2], args.text, 'PX', args.ms)
return 'null'
