import { readFileSync } from 'node:fs';
import { SourceMap, type SourceMapPayload } from 'node:module';

/** The place of a line of a stack: a file of code, the line and the column. */
const PLACE = /(\/[^():\n]+\.js):(\d+):(\d+)/g;

/** A line of a stack that tells a place. Any other line that begins as one is a part of a message. */
const PLACE_LINE = /^ {4}at .*(?::\d+:\d+\)?|\((?:<anonymous>|native|index \d+)\))$/;

/** The maps of the bundle's files; undefined for a file without one. */
const maps = new Map<string, SourceMap | undefined>();

/**
 * The stack of an error with places in the sources instead of the bundle, such as `src/app.ts:12`. Places within other packages stay as
 * they are. A map is read at the first failure that names its file: `--enable-source-maps` of Node reads all maps at each start.
 */
const toSourceStack = (stack: string): string =>
  stack.replace(PLACE, (place, file: string, line: string, column: string) => {
    const found = readMap(file)?.findEntry(Number(line) - 1, Number(column) - 1);
    if (!found || !('originalSource' in found) || !found.originalSource) return place;
    return `${found.originalSource.replace(/^(\.\.\/)+/, '')}:${found.originalLine + 1}`;
  });

/**
 * The places of an error's stack in the sources, or the first of them. The message is left out, with those of its lines that look like
 * places: it may hold a donor's data.
 */
export function listPlaces({ stack = '', message }: Error, max = Infinity): string[] {
  const below = stack.includes(message) ? stack.slice(stack.indexOf(message) + message.length) : stack;
  const places = below.split('\n').filter((line) => PLACE_LINE.test(line));
  return places.slice(0, max).map(toSourceStack);
}

function readMap(file: string): SourceMap | undefined {
  if (!maps.has(file)) maps.set(file, parseMap(`${file}.map`));
  return maps.get(file);
}

/** A map that is gone, or being replaced, leaves places as they are: an error is told in any case. */
function parseMap(file: string): SourceMap | undefined {
  try {
    return new SourceMap(JSON.parse(readFileSync(file, 'utf8')) as SourceMapPayload);
  } catch {
    return undefined;
  }
}
