-- args: group, after (ms), but (a consumer, or ""). Makes all pending entries due except those of the consumer `but`;
-- returns how many.
local start, count = '-', 0
while true do
  local page = redis.call('XPENDING', stream, args.group, start, '+', 1000)
  for _, pending in ipairs(page) do
    if pending[2] ~= args.but then
      redis.call('XCLAIM', stream, args.group, pending[2], 0, pending[1], 'IDLE', args.after, 'JUSTID')
      count = count + 1
    end
    start = '(' .. pending[1]
  end
  if #page < 1000 then
    return cjson.encode(count)
  end
end
