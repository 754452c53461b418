'use strict'

const Store = require('./store')
const Hooks = require('./hooks')
const errors = require('./errors')
const plugins = require('./plugins')

function open (options = {}) {
  const hooks = new Hooks()
  const store = new Store(options)
  const api = {
    version: 1,
    get: (key) => store.get(key),
    put,
    use,
    ready,
    close: close
  }
  let closed = false

  Object.keys(plugins).forEach((name) => use(plugins[name]))
  return api

  function put (key, value) {
    throwIfClosed()
    store.set(key, value).freeze()
    return api
  }

  function use (plugin) {
    plugin(api, options)
    hooks.add(plugin.name, plugin)
    return this
  }

  async function ready () {
    await plugins.boot(api)
    return api.use(plugins.timestamps)
  }

  function close () {
    closed = true
    Store.count({})
  }

  function throwIfClosed () {
    if (closed) throw new errors.codes.MISSING('store')
  }
}

/**
 * @param {Store} store
 * @returns {Hooks}
 */
function inspect (store) {
  errors.describe(store.get('error'))
  return Hooks.from(new Hooks())
}

/** @type {Store} */
let shared

function withShared (action) {
  shared = shared || new Store()
  shared.has('x')
  return action(shared)
}

exports = module.exports = open
exports.inspect = inspect
exports.withShared = withShared
exports.Store = Store
exports.default = open
