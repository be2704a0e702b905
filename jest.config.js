const { availableParallelism } = require('node:os');

// The processes of the tests run gateways as src/main.ts does. In any other environment graphql checks its own objects at every use.
process.env.NODE_ENV = 'production';

/** @type {import('jest').Config} */
module.exports = {
  // To load the gateway and its packages anew for each test file takes a quarter of the tests' time.
  runtime: '<rootDir>/test/support/shared-modules-runtime.js',
  testEnvironment: '<rootDir>/test/support/shared-modules-environment.ts',
  roots: ['<rootDir>/test'],
  testPathIgnorePatterns: ['/node_modules/', '<rootDir>/test/destructive/', '<rootDir>/test/browser/'],
  transform: { '^.+\\.ts$': '@swc/jest' },
  setupFiles: ['reflect-metadata'],
  globalSetup: '<rootDir>/test/support/global-setup.ts',
  globalTeardown: '<rootDir>/test/support/global-teardown.ts',
  // The time limit only ends tests that hang. It leaves room for a busy machine.
  testTimeout: 600_000,
  testSequencer: '<rootDir>/test/support/longest-first-sequencer.js',
  // Many tests wait for a time limit, so that one process more than there are cores keeps all of these busy.
  maxWorkers: availableParallelism() + 1,
  // A process keeps what its earlier suites loaded, and its garbage collection takes longer with each of them.
  workerIdleMemoryLimit: '1GB',
};
