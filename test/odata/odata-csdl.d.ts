declare module 'odata-csdl' {
  /** Reads CSDL as XML into CSDL as JSON. Faults are thrown with `strict`, or else added to `messages`. */
  export function xml2json(xml: string, options: { readonly messages: unknown[]; readonly strict: boolean }): object;
}
