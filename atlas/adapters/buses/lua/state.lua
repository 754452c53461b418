-- Returns [group, length, waiting, pending] of each group of the stream.
local states = {}
if redis.call('EXISTS', stream) == 1 then
  local length = redis.call('XLEN', stream)
  local all = groups_of(stream)
  for _, group in ipairs(all) do
    local waiting = group.lag
    if #all == 1 then
      waiting = math.max(0, length - group.pending)  -- entries that are neither pending nor waiting are deleted
    elseif not waiting then  -- deletions hide the lag from the server
      waiting = #redis.call('XRANGE', stream, '(' .. group['last-delivered-id'], '+')
    end
    states[#states + 1] = { group.name, length, waiting, group.pending }
  end
end
return list(states)
