-- args: events ([project, key] each, no two alike), capacity. Returns the number of events for which there was no room.
local room = args.capacity - redis.call('XLEN', stream)
local refused = 0
in_parts(args.events, function(part)
  local names, marks = {}, {}
  for position, event in ipairs(part) do
    names[position] = mark(event[1], event[2])
  end
  for position, id in ipairs(redis.call('HMGET', queued, unpack(names))) do
    -- a queued id without an entry (the stream was deleted) must not keep the event out permanently
    if not (id and redis.call('XRANGE', stream, id, id)[1]) then
      if room > 0 then
        marks[#marks + 1] = names[position]
        marks[#marks + 1] = redis.call('XADD', stream, '*', 'p', part[position][1], 'k', part[position][2])
        room = room - 1
      else
        refused = refused + 1
      end
    end
  end
  if #marks > 0 then
    redis.call('HSET', queued, unpack(marks))
  end
end)
return cjson.encode(refused)
