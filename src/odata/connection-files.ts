import { Router, type Request, type RequestHandler } from 'express';
import { AppError } from '../errors';
import { hostOf } from '../http/request-credentials';
import { enterDoor } from '../http/request-record';
import { refuseMethod } from '../http/request-router';
import type { QueryString } from '../formats/file-address';
import { parseSetName } from './odata-model';

/** The name of the file that leads to the service, and not to one of its sets. */
const SERVICE = 'deposit-gateway';

interface ConnectionFormat {
  readonly mediaType: string;
  readonly write: (name: string, address: string) => string;
}

/** The files that a click opens in a program, by their endings. They hold an address and no password: the program asks for that. */
const formats: Readonly<Record<string, ConnectionFormat>> = {
  pbids: {
    mediaType: 'application/json; charset=utf-8',
    write: (_name, url) =>
      JSON.stringify({
        version: '0.1',
        connections: [{ details: { protocol: 'odata', address: { url } }, options: {}, mode: 'Import' }],
      }),
  },
  odc: { mediaType: 'text/x-ms-odc; charset=utf-8', write: writeOdc },
};

/** Serves the files to everybody, without a look at the database: whether a saved report is there, they do not tell. */
export function createConnectionFiles(path: string): Router {
  const router = Router({ caseSensitive: true, strict: true });
  const pattern = `${path}/:file`;
  router.all(pattern, enterDoor('odata', pattern));
  router.get(pattern, sendFile);
  router.all(pattern, refuseMethod);
  return router;
}

const sendFile: RequestHandler = (request, response) => {
  const file = String(request.params.file);
  const [, name = '', ending = ''] = /^([\w-]+)\.([a-z]+)$/.exec(file) ?? [];
  const format = Object.hasOwn(formats, ending) ? formats[ending] : undefined;
  const isSet = parseSetName(name) !== undefined;
  if (!format || (!isSet && name !== SERVICE)) throw new AppError('NOT_FOUND');
  response.set({ 'Content-Type': format.mediaType, 'Content-Disposition': `attachment; filename="${file}"` });
  response.end(format.write(name, toAddress(request, isSet ? name : '')));
};

/** A name or an address, with a port. A quote would end the text of a formula. */
const HOST = /^[\w.:[\]-]+$/;

/** The address that a file leads to, with the parameters of the file's own. A host that makes no address is refused. */
function toAddress(request: Request, set: string): string {
  const root = `${request.protocol}://${hostOf(request)}`;
  if (!HOST.test(hostOf(request)) || !URL.canParse(root)) throw new AppError('BAD_REQUEST', { fault: 'the host is none' });
  const address = new URL(`/odata/${set}`, root);
  for (const [name, value] of Object.entries(request.query as QueryString)) {
    for (const each of [value].flat()) address.searchParams.append(name, String(each));
  }
  return address.href;
}

const MASHUP =
  'xmlns:xsd="http://www.w3.org/2001/XMLSchema" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xmlns="http://schemas.microsoft.com/DataMashup"';

/** The form in which Excel exports a connection of Power Query. An address has neither quotes nor brackets, so that its formula ends where it shall. */
function writeOdc(name: string, address: string): string {
  const formula = `let Source = OData.Feed("${address}", null, [Implementation="2.0"]) in Source`;
  const query = `<Query Name="${name}"><Formula><![CDATA[${formula}]]></Formula><IsParameterQuery xsi:nil="true" /><IsDirectQuery xsi:nil="true" /></Query>`;
  const mashup = `<Mashup ${MASHUP}><Client>EXCEL</Client><Version>2.140.405.0</Version><MinVersion>2.21.0.0</MinVersion><Culture>en-US</Culture><SafeCombine>true</SafeCombine><Items>${query}</Items></Mashup>`;
  return [
    '<html xmlns:o="urn:schemas-microsoft-com:office:office" xmlns="http://www.w3.org/TR/REC-html40">',
    '<head>',
    '<meta http-equiv=Content-Type content="text/x-ms-odc; charset=utf-8">',
    '<meta name=ProgId content=ODC.Database>',
    '<meta name=SourceType content=OLEDB>',
    `<title>${name}</title>`,
    '<xml id=msodc><odc:OfficeDataConnection xmlns:odc="urn:schemas-microsoft-com:office:odc" xmlns="http://www.w3.org/TR/REC-html40">',
    '<odc:PowerQueryConnection odc:Type="OLEDB">',
    `<odc:ConnectionString>Provider=Microsoft.Mashup.OleDb.1;Data Source=$Workbook$;Location=${name};Extended Properties=&quot;&quot;</odc:ConnectionString>`,
    '<odc:CommandType>SQL</odc:CommandType>',
    `<odc:CommandText>SELECT * FROM [${name}]</odc:CommandText>`,
    '</odc:PowerQueryConnection>',
    `<odc:PowerQueryMashupData>${escapeMarkup(mashup)}</odc:PowerQueryMashupData>`,
    '</odc:OfficeDataConnection></xml>',
    '</head>',
    '</html>',
    '',
  ].join('\r\n');
}

const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const escapeMarkup = (text: string): string => text.replace(/[&<>"]/g, (character) => ESCAPES[character]!);
