import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { APP_SECTIONS, blocksOf, FRONTEND_APP, readDocument, sectionOf } from '../support/documents';

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

test("a frontend developer's compiler takes the code for graphql-request as it is written", () => {
  const [{ body } = { body: '' }] = blocksOf(sectionOf(readDocument('docs/frontend.md'), 'Other clients')).filter((block) =>
    block.body.includes("'graphql-request'"),
  );
  // As graphql-codegen types a document whose only variable may be left out.
  const given = `import type { TypedDocumentNode } from '@graphql-typed-document-node/core';
    declare const uri: string, Provision: string;
    declare const MonthDocument: TypedDocumentNode<{ depositDetailsConnection: { edges: object[] } | null }, { after?: string | null | undefined }>;
    export const known: { edges: object[] } | null = await (async () => { ${body.replace(/^import.*$/m, '')} return depositDetailsConnection; })();`;
  const file = join(FRONTEND_APP, 'src/graphql-request.example.ts');
  const { options } = ts.parseJsonConfigFileContent(
    ts.readConfigFile(join(FRONTEND_APP, 'tsconfig.json'), (name) => ts.sys.readFile(name)).config,
    ts.sys,
    FRONTEND_APP,
  );
  const host = ts.createCompilerHost(options);
  const text = `${/^import.*$/m.exec(body)![0]}\n${given}`;
  const getSourceFile = host.getSourceFile.bind(host);
  host.getSourceFile = (name, language) => (name === file ? ts.createSourceFile(name, text, language) : getSourceFile(name, language));
  const program = ts.createProgram([file], { ...options, noEmit: true, types: [] }, host);
  const faults = ts.getPreEmitDiagnostics(program).map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, ' '));
  expect(faults).toEqual([]);
});
