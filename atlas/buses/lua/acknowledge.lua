-- args: group, ids.
if redis.call('EXISTS', stream) == 1 then
  answered(args.ids)
end
return 'null'
