import open, { inspect, withShared as shared } from './lib/index.js'
import * as lib from './lib/index.js'

const commands = {
  show: (store) => store.get('a'),
  async run (name) {
    return this.show(name)
  }
}

function main ([name, ...rest]) {
  const store = open({})
  store.put('a', 1).close()
  inspect(new lib.Store()).add('x', print)
  shared((one) => one.has('b'))
  const { run, show: display } = commands
  display(store)
  run.call(commands, name)
  commands[name]?.(rest)
  lib.default().ready().then(print)
}

function print (value) {
  console.log(value)
}

main(process.argv.slice(2))
