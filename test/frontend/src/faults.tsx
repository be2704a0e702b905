import type { ErrorLike } from '@apollo/client';
import { CombinedGraphQLErrors } from '@apollo/client/errors';
import type { SessionFragment } from './gql/graphql';

/** Says in the place of a field why it failed. An error names its field at the end of its path. */
export function Fault({ error, of }: { readonly error: ErrorLike | undefined; readonly of: string }) {
  const failed = CombinedGraphQLErrors.is(error) ? error.errors.find(({ path }) => path?.at(-1) === of) : error;
  return failed ? <p role="alert">{failed.message}</p> : null;
}

/** True when the user lacks the privilege of the report. The cache keeps a refused field's null and not its error, so ask the viewer. */
export const isRefused = (viewer: SessionFragment | null | undefined): boolean =>
  !viewer?.privileges.includes('deposit_detail_designation_detail_with_contact_info');

export const Refusal = () => <p className="refusal">Your account may not see this.</p>;
