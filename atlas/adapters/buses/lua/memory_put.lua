-- KEYS: the ids of entries by time, the entry. args: id, created, ttl_ms, fields, most, prefix (of entries, in the slot of
-- KEYS). Keeps an entry until it expires, and drops the oldest beyond `most`.
redis.call('DEL', KEYS[2])
redis.call('HSET', KEYS[2], unpack(args.fields))
redis.call('PEXPIRE', KEYS[2], args.ttl_ms)
redis.call('ZADD', KEYS[1], args.created, args.id)
local surplus = redis.call('ZCARD', KEYS[1]) - args.most
if surplus > 0 then
  local popped = redis.call('ZPOPMIN', KEYS[1], surplus)
  for position = 1, #popped, 2 do
    redis.call('DEL', args.prefix .. popped[position])
  end
end
return list({})
