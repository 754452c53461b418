module.exports = {
  kState: Symbol('state'),
  kHooks: Symbol('hooks')
}
