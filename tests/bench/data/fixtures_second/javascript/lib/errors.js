'use strict'

function createError (code, message, Base = Error) {
  class StoreError extends Base {
    constructor (...args) {
      super(format(message, args))
      this.code = code
    }

    toString () {
      return describe(this)
    }
  }
  return StoreError
}

function format (message, args) {
  return message.replace('%s', () => args.shift())
}

const describe = (error) => `${error.code}: ${error.message}`

const codes = {
  MISSING: createError('MISSING', 'missing %s'),
  FROZEN: createError('FROZEN', 'frozen', TypeError)
}

module.exports = { codes, createError, describe }
