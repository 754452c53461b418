-- given: ids (those letters), or limit (the oldest). Returns [id, stream, group, project, key, attempts, reason] of each.
local found = {}

local function add(entries)
  for _, entry in ipairs(entries) do
    local fields = entry[2]
    found[#found + 1] = { entry[1], fields[2], fields[4], fields[6], fields[8], tonumber(fields[10]), fields[12] }
  end
end

if given.ids then
  for _, id in ipairs(given.ids) do
    add(redis.call('XRANGE', letters, id, id))
  end
else
  add(redis.call('XRANGE', letters, '-', '+', 'COUNT', given.limit))
end
return list(found)
