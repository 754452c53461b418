-- args: group, ids.
if redis.call('EXISTS', stream) == 1 then
  remove(args.ids)
end
return 'null'
