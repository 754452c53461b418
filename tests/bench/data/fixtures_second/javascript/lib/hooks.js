class Hooks {
  #hooks = new Map()

  add (name, hook) {
    this.#list(name).push(hook)
    return this
  }

  run (name, payload, done) {
    const hooks = this.#list(name)
    let i = 0
    next()

    function next (err) {
      if (err || i === hooks.length) return finish(err)
      hooks[i++](payload, next)
    }

    function finish (err) {
      done(err)
    }
  }

  #list (name) {
    if (!this.#hooks.has(name)) this.#hooks.set(name, [])
    return this.#hooks.get(name)
  }

  static from (other) {
    const made = new Hooks()
    other.each((name, hook) => made.add(name, hook))
    return made
  }

  each = (visit) => {
    for (const [name, hooks] of this.#hooks) hooks.forEach((hook) => visit(name, hook))
  }
}

module.exports = Hooks
