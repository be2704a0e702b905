import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readVersion } from '../../src/package-files';
import { ROOT } from '../support/documents';
import { findSection } from './changelog';

const CHANGELOG =
  '# Changelog\n\n## [Unreleased]\n\nNothing yet.\n\n## [1.10.0] - 2027-01-02\n\n### Added\n\n- Ten.\n\n## [1.1.0] - 2026-12-01\n\n- One.\n';

test.each([
  ['1.10.0', '### Added\n\n- Ten.'],
  ['1.1.0', '- One.'],
  ['1.0.0', undefined],
  ['Unreleased', undefined],
])('a developer who releases %s gets its section of the changelog', (version, section) => {
  expect(findSection(CHANGELOG, version)).toBe(section);
});

test('a developer finds the present version in the changelog', () => {
  expect(findSection(readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8'), readVersion())).toContain('### Added');
});
