-- args: ids, or limit (the oldest). Returns [id, stream, group, project, key, attempts, reason] of each dead letter.
local found = {}

local function add(entries)
  for _, entry in ipairs(entries) do
    local fields = entry[2]
    found[#found + 1] = { entry[1], fields[2], fields[4], fields[6], fields[8], tonumber(fields[10]), fields[12] }
  end
end

if args.ids then
  for _, id in ipairs(args.ids) do
    add(redis.call('XRANGE', dead_letters, id, id))
  end
else
  add(redis.call('XRANGE', dead_letters, '-', '+', 'COUNT', args.limit))
end
return list(found)
