/** The tests that need a browser of their own: Debian's package chromium, or CHROMIUM set to another one's path. One after the other: they measure frames. */
const base = require('../../jest.config.js');

/** @type {import('jest').Config} */
module.exports = { ...base, rootDir: '../..', roots: ['<rootDir>/test/browser'], testPathIgnorePatterns: [], maxWorkers: 1 };
