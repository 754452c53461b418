-- Returns [stream, group, number of dead letters] of each group that has any.
local found, numbers = {}, {}
for _, entry in ipairs(redis.call('XRANGE', dead_letters, '-', '+')) do
  local fields = entry[2]
  local name = fields[2] .. '\0' .. fields[4]
  if not numbers[name] then
    found[#found + 1] = { fields[2], fields[4], 0 }
    numbers[name] = #found
  end
  local count = found[numbers[name]]
  count[3] = count[3] + 1
end
return list(found)
