const { existsSync } = require('node:fs');
const { join } = require('node:path');
const { default: Sequencer } = require('@jest/test-sequencer');

/**
 * The suites that take longest, from the longest on. Jest knows the durations of earlier runs, and runs suites without one first, by the size
 * of their files: in a new clone a long suite in a short file would run on alone after all others have ended.
 */
const LONGEST = [
  ...['documents/document-commands', 'access/access-matrix', 'http/data-source-failures', 'report/replica-reads', 'rows/rendered-rows'],
  ...['cli/backup-refusals', 'cli/repeated-imports', 'cli/backup-and-restore', 'graphql/generated-queries', 'graphql/kept-documents'],
].map((name) => join(__dirname, '..', `${name}.test.ts`));

module.exports = class LongestFirstSequencer extends Sequencer {
  sort(tests) {
    const gone = LONGEST.filter((path) => !existsSync(path));
    if (gone.length > 0) throw new Error(`There is no ${gone.join(', ')}`);
    const sorted = super.sort(tests);
    const placeOf = ({ path }) => (LONGEST.includes(path) ? LONGEST.indexOf(path) : LONGEST.length);
    const unknown = sorted.filter(({ duration }) => duration === undefined).toSorted((one, other) => placeOf(one) - placeOf(other));
    // Each suite with a duration keeps its place.
    return sorted.map((suite) => (suite.duration === undefined ? unknown.shift() : suite));
  }
};
