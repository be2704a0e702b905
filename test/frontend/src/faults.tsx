import type { ErrorLike } from '@apollo/client';
import { CombinedGraphQLErrors } from '@apollo/client/errors';
import type { SessionFragment } from './gql/graphql';

/**
 * The error of a place. An error without a path is of the whole request. An error of a field that cannot be null ends with an inner name,
 * and makes null what is above. A refused field is null itself, and the screen says so in its place.
 */
export const faultOf = (error: ErrorLike | undefined, of?: string): Pick<ErrorLike, 'message'> | undefined =>
  CombinedGraphQLErrors.is(error)
    ? error.errors.find(
        ({ path, extensions }) =>
          !path || path.at(-1) === of || (extensions?.code !== 'PRIVILEGE_NOT_FOUND' && (of === undefined || path.includes(of))),
      )
    : error;

/** Says in the place of a field why it failed, or what is below it. Without a field it says why the request failed. */
export function Fault({ error, of }: { readonly error: ErrorLike | undefined; readonly of?: string }) {
  const fault = faultOf(error, of);
  return fault ? <p role="alert">{fault.message}</p> : null;
}

/** True when the user lacks the privilege of the report. The cache keeps a refused field's null and not its error, so ask the viewer. */
export const isRefused = (viewer: SessionFragment | null | undefined): boolean =>
  !viewer?.privileges.includes('deposit_detail_designation_detail_with_contact_info');

export const Refusal = () => <p className="refusal">Your account may not see this.</p>;
