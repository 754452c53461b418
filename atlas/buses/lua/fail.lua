-- given: group, ids, reason, attempts, after, first_delay, longest_delay (ms), stream, kept_letters.
-- An entry comes again when it was idle for `after` ms, so it is given the idle time that leaves its delay.
-- Returns the shortest delay in ms, -1 when nothing comes again.
local shortest = -1
for _, id in ipairs(given.ids) do
  local pending = redis.call('XPENDING', stream, given.group, id, id, 1)[1]
  if pending and pending[4] >= given.attempts then
    bury(id, pending[4], given.reason)
  elseif pending then
    local delay = math.min(given.first_delay * 2 ^ (pending[4] - 1), given.longest_delay, given.after)
    redis.call('XCLAIM', stream, given.group, pending[2], 0, id, 'IDLE', math.floor(given.after - delay), 'JUSTID')
    if shortest < 0 or delay < shortest then
      shortest = delay
    end
  end
end
return cjson.encode(shortest)
