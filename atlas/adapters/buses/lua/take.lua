-- args: group, consumer, limit, got (id of an entry that the consumer has just read, or ""), due (look for deliveries
-- without an answer for `after` ms), attempts (deliveries of one event), stream, max_dead_letters.
-- Returns [id, project, key, attempt] of each delivery.
local taken, entries = {}, {}

local function give(entry, attempt)
  entries[#entries + 1] = entry
  taken[#taken + 1] = { entry[1], entry[2][2], entry[2][4], attempt }
end

if args.got ~= '' then
  local entry = redis.call('XRANGE', stream, args.got, args.got)[1]
  if entry then
    give(entry, 1)
  end
end

local start = '-'
while args.due and #taken < args.limit do
  local page = redis.call('XPENDING', stream, args.group, 'IDLE', args.after, start, '+', args.limit - #taken)
  if #page == 0 then
    break
  end
  for _, pending in ipairs(page) do
    local id, attempts = pending[1], pending[4]
    start = '(' .. id
    if attempts >= args.attempts then
      dead_letter(id, attempts, string.format('delivered %d times without an answer', attempts))
    else
      local entry = redis.call('XCLAIM', stream, args.group, args.consumer, 0, id)[1]
      if entry then
        give(entry, attempts + 1)
      end
    end
  end
end

if #taken < args.limit then
  local read = redis.call('XREADGROUP', 'GROUP', args.group, args.consumer, 'COUNT', args.limit - #taken,
    'STREAMS', stream, '>')
  for _, entry in ipairs(read and read[1][2] or {}) do
    give(entry, 1)
  end
end
unmark(entries)
return list(taken)
