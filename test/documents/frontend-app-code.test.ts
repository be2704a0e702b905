import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { APP_SECTIONS, FRONTEND_APP, readDocument, sectionOf } from '../support/documents';

/** A block of code, with the file that the text before it names last. */
const SHOWN = /`([\w./-]+\.(?:tsx?|graphql))`|^```(?:tsx?|graphql)\n([\s\S]*?)^```$/gm;

/** Code without its indentation, because a part of a file stands in the document at the margin. */
const atMargin = (code: string): string => code.replaceAll(/^[ \t]+/gm, '');

test.each(APP_SECTIONS)('a frontend developer reads the code of the app that the browser test drives: %s', (section) => {
  let file: string | undefined;
  const blocks: [file: string | undefined, code: string][] = [];
  for (const [, named, code] of sectionOf(readDocument('docs/frontend.md'), section).matchAll(SHOWN)) {
    file = named ?? file;
    if (code !== undefined) blocks.push([file, code]);
  }
  expect(blocks.length).toBeGreaterThan(0);
  const others = blocks.filter(([name, code]) => !atMargin(readFileSync(join(FRONTEND_APP, name!), 'utf8')).includes(atMargin(code)));
  expect(others).toEqual([]);
});
