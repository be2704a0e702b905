import { inflateSync } from 'node:zlib';

/** The texts of the pages of a PDF as Chromium writes it, in the order in which they are drawn. */
export function readPdfPages(pdf: Buffer): string[] {
  const objects = new Map(
    [...pdf.toString('latin1').matchAll(/^(\d+) 0 obj\n?([\s\S]*?)\nendobj/gm)].map(([, id, body]) => [id!, body!] as const),
  );
  const streamOf = (id: string): string => {
    const body = objects.get(id) ?? '';
    const content = Buffer.from(/stream\r?\n([\s\S]*?)\r?\nendstream/.exec(body)?.[1] ?? '', 'latin1');
    return /FlateDecode/.test(body) ? inflateSync(content).toString('latin1') : content.toString('latin1');
  };
  const fonts = new Map<string, ReadonlyMap<number, string>>();
  for (const [id, body] of objects) {
    const map = /\/ToUnicode (\d+) 0 R/.exec(body)?.[1];
    if (map !== undefined) fonts.set(id, toLetters(streamOf(map)));
  }
  return [...objects.values()]
    .filter((body) => /\/Type \/Page\b/.test(body))
    .map((body) => {
      const names = new Map([...resourcesOf(body, objects).matchAll(/\/(F\d+) (\d+) 0 R/g)].map(([, name, id]) => [name!, id!] as const));
      const drawn = [...(/\/Contents (?:\[([^\]]*)\]|(\d+ 0 R))/.exec(body)?.slice(1).join('') ?? '').matchAll(/(\d+) 0 R/g)];
      return drawn.map(([, id]) => toText(streamOf(id!), (name) => fonts.get(names.get(name) ?? ''))).join('');
    });
}

const resourcesOf = (page: string, objects: ReadonlyMap<string, string>): string =>
  objects.get(/\/Resources (\d+) 0 R/.exec(page)?.[1] ?? '') ?? page;

const toLetter = (hex: string): string => Buffer.from(hex, 'hex').swap16().toString('utf16le');

/** The letters of a font by the numbers of its glyphs. */
function toLetters(map: string): ReadonlyMap<number, string> {
  const letters = new Map<number, string>();
  for (const [, part = ''] of map.matchAll(/beginbfchar([\s\S]*?)endbfchar/g))
    for (const [, glyph, letter] of part.matchAll(/<(\w+)> <(\w+)>/g)) letters.set(Number.parseInt(glyph!, 16), toLetter(letter!));
  for (const [, part = ''] of map.matchAll(/beginbfrange([\s\S]*?)endbfrange/g))
    for (const [, from, to, letter] of part.matchAll(/<(\w+)> <(\w+)> <(\w+)>/g))
      for (let glyph = Number.parseInt(from!, 16), at = 0; glyph <= Number.parseInt(to!, 16); glyph++, at++)
        letters.set(glyph, String.fromCharCode(Number.parseInt(letter!, 16) + at));
  return letters;
}

function toText(content: string, fontOf: (name: string) => ReadonlyMap<number, string> | undefined): string {
  let font: ReadonlyMap<number, string> | undefined;
  let text = '';
  for (const [, name, hex] of content.matchAll(/\/(F\d+) [\d.]+ Tf|<([0-9A-Fa-f]+)>/g)) {
    if (name !== undefined) font = fontOf(name);
    else for (const glyph of hex!.match(/.{4}/g) ?? []) text += font?.get(Number.parseInt(glyph, 16)) ?? '';
  }
  return text;
}
