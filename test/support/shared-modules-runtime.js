const { Module, createRequire } = require('node:module');
const { join, sep } = require('node:path');
const { default: Runtime } = require('jest-runtime');

const SRC = join(__dirname, '../../src', sep);
const sourceMaps = new Map();

/** The gateway and all packages. Other modules, above all those of the tests, are loaded anew for each test file. */
const isShared = (path) => path.startsWith(SRC) || path.includes(`${sep}node_modules${sep}`) || path === __filename;

/** Loads modules as Node.js does, the shared ones once in each process. Jest's own runtime loads everything anew for each test file. */
module.exports = class SharedModulesRuntime extends Runtime {
  constructor(config, environment, resolver, transformer, ...rest) {
    super(config, environment, resolver, transformer, ...rest);
    // The part of Jest that keeps the tests of one file.
    const adapter = createRequire(config.testRunner).resolve('./jestAdapterInit');
    for (const path of Object.keys(require.cache)) if (path === adapter || !isShared(path)) delete require.cache[path];
    // A module refers to all that it has required, and would keep those of earlier test files.
    module.children.length = 0;
    require.extensions['.ts'] = (loaded, path) => {
      const { code, sourceMapPath } = transformer.transform(path, {});
      if (sourceMapPath) sourceMaps.set(path, sourceMapPath);
      loaded._compile(code, path);
    };
  }

  requireModule(from, name = from) {
    return createRequire(from)(name);
  }

  requireActual(from, name) {
    return createRequire(from)(name);
  }

  requireInternalModule(path) {
    return require(path);
  }

  getSourceMaps() {
    return sourceMaps;
  }

  setGlobalsForRuntime(globals) {
    super.setGlobalsForRuntime(globals);
    const path = require.resolve('@jest/globals');
    const exports = this.requireModuleOrMock(this._testPath, '@jest/globals');
    require.cache[path] = Object.assign(new Module(path), { exports, loaded: true });
    globalThis.jest = exports.jest;
  }
};
