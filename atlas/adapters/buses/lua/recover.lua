-- args: group, consumer, after (ms), in_flight (ids that the consumer knows of).
-- Other pending entries of the consumer were delivered into a broken connection: makes them due as if they had not been
-- delivered. Returns the ids that the consumer knows of and has pending.
local known, held = {}, {}
for _, id in ipairs(args.in_flight) do
  known[id] = true
end
local start = '-'
while true do
  local page = redis.call('XPENDING', stream, args.group, start, '+', 1000, args.consumer)
  for _, pending in ipairs(page) do
    local id = pending[1]
    start = '(' .. id
    if known[id] then
      held[#held + 1] = id
    else
      redis.call('XCLAIM', stream, args.group, args.consumer, 0, id, 'IDLE', args.after,
        'RETRYCOUNT', math.max(0, pending[4] - 1), 'JUSTID')
    end
  end
  if #page < 1000 then
    return list(held)
  end
end
