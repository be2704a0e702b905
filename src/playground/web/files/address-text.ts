import { kindOfFileColumn, type FileColumnKind } from './file-columns';

/** The address of a file on the gateway, and the names of its columns. */
export interface FileAddress {
  readonly url: URL;
  readonly columns: readonly string[];
}

/** Takes the place of an API provision in copied texts: the page's own Provision is of no use there without a login. */
const PLACEHOLDER = 'YOUR-API-PROVISION';

export const copyForms = { url: 'Address', curl: 'curl command', powerQuery: 'Excel / Power Query' } as const;
export type CopyForm = keyof typeof copyForms;

/** The message after a copy: it says what to do next. */
export const copyAdvice: Readonly<Record<CopyForm, string>> = {
  url: 'The address is copied. Send an API provision with it, in the header Provision.',
  curl: `The command is copied. Replace ${PLACEHOLDER} in it with an API provision from your administrator.`,
  powerQuery: `Copied for the advanced editor of Power Query. Replace ${PLACEHOLDER} in it with an API provision from your administrator.`,
};

/** Builds the text with which another program fetches the file. It holds no credentials. The text for Power Query reads CSV. */
export function toCopyText(form: CopyForm, { url, columns }: FileAddress): string {
  switch (form) {
    case 'url':
      return url.href;
    case 'curl':
      // An apostrophe would end the shell's quotation.
      return `curl --fail --remote-header-name --remote-name --header 'Provision: ${PLACEHOLDER}' '${url.href.replaceAll("'", '%27')}'`;
    case 'powerQuery':
      return toPowerQuery(url, columns);
  }
}

/** The types of Power Query. Its Currency is a decimal of four places, which adds up exactly; its Number is a float. */
const powerQueryTypes: Readonly<Record<FileColumnKind, string>> = {
  money: 'Currency.Type',
  date: 'type date',
  count: 'Int64.Type',
  boolean: 'type logical',
  text: 'type text',
};

/**
 * Builds a query for the advanced editor of Power Query in Excel and Power BI. Power BI refreshes it only when the base address is
 * constant, so the rest of the address goes into RelativePath. The file is written as in en-US, whatever the computer's own locale is:
 * with a comma for the point, an amount would be read a hundredfold.
 */
function toPowerQuery({ origin, pathname, search }: URL, columns: readonly string[]): string {
  const types = columns.map((name) => `    {"${name}", ${powerQueryTypes[kindOfFileColumn(name)]}}`);
  return `let
  Source = Csv.Document(
    Web.Contents("${origin}", [
      RelativePath = "${(pathname + search).slice(1)}",
      Headers = [Provision = "${PLACEHOLDER}"]
    ]),
    [Delimiter = ",", Encoding = 65001, QuoteStyle = QuoteStyle.Csv]
  ),
  Rows = Table.PromoteHeaders(Source, [PromoteAllScalars = true]),
  Typed = Table.TransformColumnTypes(Rows, {
${types.join(',\n')}
  }, "en-US")
in
  Typed`;
}
