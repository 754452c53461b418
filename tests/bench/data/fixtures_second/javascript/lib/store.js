'use strict'

const { EventEmitter } = require('node:events')
const { codes: { MISSING }, codes } = require('./errors')
const { kState, kHooks } = require('./symbols')
const Hooks = require('./hooks')

/** @typedef {import('./index').Plugin} Plugin */

function Store (options) {
  if (!(this instanceof Store)) return new Store(options)
  this[kState] = Object.create(null)
  this[kHooks] = new Hooks()
  this.frozen = false
  this.emitter = new EventEmitter()
}

Store.prototype.get = function get (key) {
  if (!this.has(key)) throw new MISSING(key)
  return this[kState][key]
}

Store.prototype.has = function (key) {
  return key in this[kState]
}

Store.prototype.set = function set (key, value) {
  assertOpen(this)
  this[kHooks].run('set', key, (err) => {
    if (err) return onError.call(this, err)
    this[kState][key] = value
    this._changed(key)
  })
  return this
}

Object.assign(Store.prototype, {
  _changed (key) {
    this.emitter.emit('change', key)
  },
  freeze () {
    this.frozen = true
    return this
  }
})

Object.defineProperty(Store.prototype, 'size', {
  get () { return count(this[kState]) }
})

function assertOpen (store) {
  if (store.frozen) throw new codes.FROZEN()
}

function onError (err) {
  this.emitter.emit('error', err)
}

function count (state) {
  return Object.keys(state).length
}

module.exports = Store
module.exports.count = count
module.exports.defaults = {
  ttl: 10,
  clone () { return Object.assign({}, this) }
}
