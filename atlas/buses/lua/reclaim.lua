-- given: group, after (ms). Makes everything pending due, whoever holds it; returns how many.
local start, count = '-', 0
while true do
  local page = redis.call('XPENDING', stream, given.group, start, '+', 1000)
  for _, pending in ipairs(page) do
    redis.call('XCLAIM', stream, given.group, pending[2], 0, pending[1], 'IDLE', given.after, 'JUSTID')
    start = '(' .. pending[1]
  end
  count = count + #page
  if #page < 1000 then
    return cjson.encode(count)
  end
end
