import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { createSchema } from '../../src/graphql/schema';
import { SchemaReportDocuments } from '../../src/resolvers/reports/report-documents';
import type { Services } from '../../src/services';
import { AGENT_PRIVILEGE } from '../../src/values/privileges';

/** Longer than any call takes. */
const LONG_CALL_MS = 20_000;

type Values = Readonly<Record<string, unknown>>;

export const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex');

/** Writes a manifest of trusted documents, in their order, which is there for the tests of the file or block that calls it. */
export function manifestOf(texts: readonly string[]): { readonly path: string } {
  const folder = mkdtempSync(join(tmpdir(), 'agents-'));
  const path = join(folder, 'manifest.json');
  writeFileSync(path, JSON.stringify(Object.fromEntries(texts.map((text) => [hashOf(text), text]))));
  afterAll(() => rmSync(folder, { recursive: true }));
  return { path };
}

export const createAgent = ({ provisions }: Services, organization: string, grants: readonly string[] = []): Promise<string> =>
  provisions.create({ organization, kind: 'API', label: 'agent', grants: [AGENT_PRIVILEGE, ...grants] });

export const saveReport = (
  { savedReports }: Services,
  organizationId: number,
  report: {
    readonly name: string;
    readonly title?: string;
    readonly query: string;
    readonly variables?: Values;
    readonly period?: 'all-time';
  },
) => savedReports.save(organizationId, { variables: {}, updatedBy: null, ...report }, new SchemaReportDocuments(createSchema()));

/** Connects the library's own client, as an agent does. */
export async function withClient<Result>(
  url: string,
  provision: string,
  use: (client: Client) => Promise<Result>,
  mode: 'legacy' | 'auto' = 'legacy',
): Promise<Result> {
  const client = new Client({ name: 'test', version: '1.0.0' }, { versionNegotiation: { mode } });
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit: { headers: { Provision: provision } } }));
  try {
    return await use(client);
  } finally {
    await client.close();
  }
}

export interface CalledTool {
  readonly status: number;
  readonly headers: Headers;
  readonly isError: boolean;
  /** The text of the answer, or the message of an error of the protocol. */
  readonly text: string;
  /** The structured content; an empty object where there is none. */
  readonly content: Values;
}

/** Calls a tool by one request, with further headers. */
export async function callTool(
  url: string,
  provision: string,
  name: string,
  values: Values = {},
  headers: Readonly<Record<string, string>> = {},
): Promise<CalledTool> {
  const accepted = { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: values } });
  const response = await fetch(`${url}/mcp`, {
    method: 'POST',
    headers: { ...accepted, Provision: provision, ...headers },
    body,
    signal: AbortSignal.timeout(LONG_CALL_MS),
  });
  const sent = await response.text();
  // The library answers one message as an event too.
  const answer = JSON.parse(/^data: (.*)$/m.exec(sent)?.[1] ?? sent) as {
    readonly result?: { readonly isError?: boolean; readonly content: [{ readonly text: string }]; readonly structuredContent?: Values };
    readonly error?: { readonly message: string };
  };
  const { result } = answer;
  return {
    status: response.status,
    headers: response.headers,
    isError: result?.isError ?? true,
    text: result?.content[0].text ?? answer.error?.message ?? JSON.stringify(answer),
    content: result?.structuredContent ?? {},
  };
}
