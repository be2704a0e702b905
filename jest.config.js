/** @type {import('jest').Config} */
module.exports = {
  testEnvironment: 'node',
  roots: ['<rootDir>/test'],
  testPathIgnorePatterns: ['/node_modules/', '<rootDir>/test/bench/', '<rootDir>/test/trust/', '<rootDir>/test/browser/'],
  transform: { '^.+\\.ts$': '@swc/jest' },
  setupFiles: ['reflect-metadata'],
  globalSetup: '<rootDir>/test/support/global-setup.ts',
  globalTeardown: '<rootDir>/test/support/global-teardown.ts',
  // Against hanging alone: a machine that is busy with other things takes its time.
  testTimeout: 600_000,
  maxWorkers: '100%',
};
