-- args: group, ids, reason, attempts, after, first_delay, longest_delay (ms), stream, max_dead_letters.
-- An entry is redelivered after `after` ms of idle time, so its idle time is set to `after` minus its delay.
-- Returns the shortest delay in ms, -1 if no entry is redelivered.
local shortest = -1
for _, id in ipairs(args.ids) do
  local pending = redis.call('XPENDING', stream, args.group, id, id, 1)[1]
  if pending and pending[4] >= args.attempts then
    dead_letter(id, pending[4], args.reason)
  elseif pending then
    local delay = math.min(args.first_delay * 2 ^ (pending[4] - 1), args.longest_delay, args.after)
    redis.call('XCLAIM', stream, args.group, pending[2], 0, id, 'IDLE', math.floor(args.after - delay), 'JUSTID')
    if shortest < 0 or delay < shortest then
      shortest = delay
    end
  end
end
return cjson.encode(shortest)
