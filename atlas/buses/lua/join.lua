-- args: group, stream. Makes the stream and the group, which sees all that is still there, and writes the stream down.
local made = redis.pcall('XGROUP', 'CREATE', stream, args.group, '0', 'MKSTREAM')
if made.err and not string.find(made.err, '^BUSYGROUP') then
  return made
end
redis.call('SADD', KEYS[4], args.stream)
return 'null'
