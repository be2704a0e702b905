import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const readme = readFileSync(resolve(__dirname, '../../README.md'), 'utf8');

/** The text of an example: of a language, the first one in which a text stands. */
export function readExample(language: string, text = ''): string {
  const blocks = [...readme.matchAll(new RegExp(`\`\`\`${language}\n([\\s\\S]*?)\`\`\``, 'g'))].map((match) => match[1]!);
  const found = blocks.find((block) => block.includes(text));
  if (found === undefined) throw new Error(`README has no example in ${language} with ${text}`);
  return found;
}

/** Runs an example as it is written, with these names in place of its imports, and gives back what it has made under some names. */
export async function runExample<Made>(
  example: string,
  imports: Readonly<Record<string, unknown>>,
  made: readonly (keyof Made & string)[],
): Promise<Made> {
  const directory = mkdtempSync(join(tmpdir(), 'readme-'));
  const file = join(directory, 'example.js');
  writeFileSync(
    file,
    `module.exports = async ({ ${Object.keys(imports).join(', ')} }) => {\n${example}\nreturn { ${made.join(', ')} };\n};`,
  );
  try {
    return await jest.requireActual<(imports: object) => Promise<Made>>(file)(imports);
  } finally {
    rmSync(directory, { recursive: true });
  }
}
