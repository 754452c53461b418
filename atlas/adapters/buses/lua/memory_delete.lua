-- KEYS: the ids of entries by time, the entry. args: id. Returns ["1"] if the entry was there, else [].
redis.call('ZREM', KEYS[1], args.id)
return list(redis.call('DEL', KEYS[2]) == 1 and { '1' } or {})
