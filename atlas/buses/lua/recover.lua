-- given: group, consumer, after (ms), hand (ids that the consumer knows of).
-- What the consumer holds without knowing was delivered into a connection that broke: make it due, as if it had not
-- been delivered. Returns the ids that the consumer both knows of and holds.
local known, held = {}, {}
for _, id in ipairs(given.hand) do
  known[id] = true
end
local start = '-'
while true do
  local page = redis.call('XPENDING', stream, given.group, start, '+', 1000, given.consumer)
  for _, pending in ipairs(page) do
    local id = pending[1]
    start = '(' .. id
    if known[id] then
      held[#held + 1] = id
    else
      redis.call('XCLAIM', stream, given.group, given.consumer, 0, id, 'IDLE', given.after,
        'RETRYCOUNT', math.max(0, pending[4] - 1), 'JUSTID')
    end
  end
  if #page < 1000 then
    return list(held)
  end
end
