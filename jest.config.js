/** @type {import('jest').Config} */
module.exports = {
  testEnvironment: 'node',
  roots: ['<rootDir>/test'],
  testPathIgnorePatterns: ['/node_modules/', '<rootDir>/test/trust/', '<rootDir>/test/topology/', '<rootDir>/test/browser/'],
  transform: { '^.+\\.ts$': '@swc/jest' },
  // The build for browsers is an ES module, which Jest does not load.
  moduleNameMapper: { '^csv-stringify/browser/esm/sync$': 'csv-stringify/sync' },
  setupFiles: ['reflect-metadata'],
  globalSetup: '<rootDir>/test/support/global-setup.ts',
  globalTeardown: '<rootDir>/test/support/global-teardown.ts',
  // The time limit only ends tests that hang. It leaves room for a busy machine.
  testTimeout: 600_000,
  maxWorkers: '100%',
};
