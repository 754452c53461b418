exports.timestamps = function timestamps (api) {
  stamp(api)
}

exports.boot = async (api) => {
  await wait(1)
  exports.timestamps(api)
}

const stamp = (api) => { api.put('at', Date.now()) }
const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
