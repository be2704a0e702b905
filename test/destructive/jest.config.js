/** The tests that kill, restart and damage, and any test that tries a promise of docs/trust.md. `npm run test:trust` runs them. */
const base = require('../../jest.config.js');

/** @type {import('jest').Config} */
module.exports = { ...base, rootDir: '../..', testPathIgnorePatterns: ['/node_modules/', '<rootDir>/test/browser/'] };
