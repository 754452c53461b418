-- KEYS: the ids of entries by time. args: limit, prefix (of entries, in the slot of KEYS). Returns id and fields of each
-- entry, newest first, and removes the ids of entries that have expired.
local found = {}
for _, id in ipairs(redis.call('ZREVRANGE', KEYS[1], 0, -1)) do
  local fields = redis.call('HMGET', args.prefix .. id, 'content', 'created', 'expires', 'client', 'meaning', 'emotion')
  if not fields[1] then
    redis.call('ZREM', KEYS[1], id)
  elseif #found < args.limit then
    found[#found + 1] = { id, unpack(fields) }
  end
end
return list(found)
