import { graphql } from './gateway';

/** The credentials of a request. */
export interface Ask {
  readonly provision?: string;
  readonly cookie?: string;
  /** A token for the header Authorization. */
  readonly bearer?: string;
}

export const PATHS = {
  system: '/api/v2/authenticated_test_system',
  session: '/api/v2/authenticated_test_session',
  report: '/api/v2/deposit_detail_designation_detail_with_contact_info?start_date=2024-01-02&end_date=2024-01-01',
};
export const QUERIES = {
  system: '{ authenticatedTestSystem { message } }',
  session: '{ authenticatedTestSession { message } }',
  report: '{ depositDetails(startDate: "2024-01-02", endDate: "2024-01-01") { depositId } }',
};
export type Kind = keyof typeof PATHS;

export async function viaRest(url: string, kind: Kind, { provision, cookie: Cookie, bearer }: Ask): Promise<unknown> {
  const headers = {
    ...(provision !== undefined && { Provision: provision }),
    ...(Cookie !== undefined && { Cookie }),
    ...(bearer !== undefined && { Authorization: `Bearer ${bearer}` }),
  };
  const response = await fetch(url + PATHS[kind], { headers });
  const body = (await response.json()) as { errors?: { error: string; status: number }[] };
  if (!body.errors) return 'granted';
  expect(body).toEqual({ errors: [{ error: body.errors[0]?.error, status: response.status }] });
  return body.errors[0]!.error;
}

export async function viaGraphql(url: string, kind: Kind, ask: Ask): Promise<unknown> {
  const { body } = await graphql(url, QUERIES[kind], ask);
  return body.errors ? body.errors[0]!.message : 'granted';
}

/** Asks on both doors and expects them to agree. Resolves to the text of the error, or to `granted`. */
export async function askBoth(url: string, kind: Kind, as: Ask): Promise<unknown> {
  const [rest, graph] = [await viaRest(url, kind, as), await viaGraphql(url, kind, as)];
  expect(graph).toBe(rest);
  return rest;
}
