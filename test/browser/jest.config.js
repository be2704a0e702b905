/** The tests that need a browser of their own: Debian's package chromium, or CHROMIUM set to another one's path. */
const base = require('../../jest.config.js');

/** @type {import('jest').Config} */
module.exports = { ...base, rootDir: '../..', roots: ['<rootDir>/test/browser'], testPathIgnorePatterns: [] };
