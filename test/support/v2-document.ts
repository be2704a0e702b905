import Ajv2020, { type ValidateFunction } from 'ajv/dist/2020';
import addFormats from 'ajv-formats';

interface Described {
  readonly headers?: Readonly<Record<string, unknown>>;
  readonly content?: Readonly<Record<string, { readonly examples?: Readonly<Record<string, unknown>> }>>;
}
interface OpenApi {
  readonly paths: Readonly<Record<string, { readonly get: { readonly responses: Readonly<Record<string, Described>> } }>>;
  readonly components: { readonly examples: Readonly<Record<string, { readonly value: unknown }>> };
}

/** An answer as the caller has received it, with names of headers in lower case. */
export interface ReceivedAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export const toReceived = async (response: Response): Promise<ReceivedAnswer> => ({
  ...{ status: response.status, headers: Object.fromEntries(response.headers), body: await response.text() },
});

/** The headers that every answer has, or that tell how its bytes come. The document does not name them. */
const TRANSPORT = ['transfer-encoding', 'content-encoding', 'vary', 'connection', 'keep-alive', 'content-length', 'date'];

/** Checks answers against the OpenAPI document of a gateway. */
export class V2Document {
  private readonly ajv = new Ajv2020({ strict: false, allErrors: true });

  private constructor(
    readonly content: OpenApi,
    private readonly usualHeaders: readonly string[],
  ) {
    addFormats(this.ajv);
    // Whole numbers of 64 bits, which are no format of JSON Schema.
    this.ajv.addFormat('int64', { type: 'number', validate: Number.isSafeInteger });
    this.ajv.addSchema(content, 'v2');
  }

  static async fetch(url: string): Promise<V2Document> {
    const content = (await (await fetch(`${url}/api/v2/openapi.json`)).json()) as OpenApi;
    const live = await fetch(`${url}/live`);
    await live.text();
    return new V2Document(
      content,
      [...live.headers.keys(), ...TRANSPORT].filter((name) => name !== 'x-request-id'),
    );
  }

  /** The codes of all errors that the document has, sorted. */
  get codes(): string[] {
    return Object.keys(this.content.components.examples).sort();
  }

  schemaAt(pointer: string): ValidateFunction {
    return this.ajv.compile({ $ref: `v2#${pointer}` });
  }

  /** The ways in which an answer to GET differs from what the document says of the path. */
  findFaults(path: string, { status, headers, body }: ReceivedAnswer): string[] {
    const { responses } = this.content.paths[path]!.get;
    const key = String(status);
    const response = responses[key];
    if (!response) return [`there is no answer ${key}`];
    const { headers: named = {}, content } = response;
    const known = [...this.usualHeaders, ...Object.keys(named).map((name) => name.toLowerCase())];
    const unknown = Object.keys(headers).filter((name) => !known.includes(name));
    const faults = unknown.map((name) => `${key} has no header ${name}`);
    if (!content) return body === '' ? faults : [...faults, `${key} has no body`];
    if (!/^application\/json\b/.test(headers['content-type'] ?? '')) faults.push(`${key} is no ${headers['content-type']}`);
    const pointer = ['', 'paths', path.replaceAll('/', '~1'), 'get', 'responses', key, 'content', 'application~1json', 'schema'].join('/');
    const isValid = this.schemaAt(pointer);
    if (!isValid(JSON.parse(body))) faults.push(this.ajv.errorsText(isValid.errors));
    const examples = Object.keys(content['application/json']!.examples ?? {});
    if (examples.length > 0 && !examples.includes(this.codeOf(body) ?? '')) faults.push(`${key} has no example ${body}`);
    return faults;
  }

  /** The code of the error that a body has. A bad request may name its fault. */
  codeOf(body: string): string | undefined {
    const plain = body.replace(/(Bad request): [^"]*/, '$1');
    return Object.entries(this.content.components.examples).find(([, { value }]) => JSON.stringify(value) === plain)?.[0];
  }
}
