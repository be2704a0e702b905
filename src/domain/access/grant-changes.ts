import type { ProvisionKind } from '../../data/access/organization-store';
import { OperatorError } from '../../errors';
import {
  AGENT_PRIVILEGE,
  DEFAULT_PRIVILEGES,
  isPrivilege,
  isSecret,
  privileges,
  SECRET_PRIVILEGES,
  type Privilege,
} from '../../values/privileges';

/** Privileges to grant to a user or provision, or to revoke. */
export interface GrantChange {
  readonly verb: 'grant' | 'revoke';
  readonly privileges: readonly string[];
}

/** The commands of the changes of grants. */
export const COMMANDS = { grant: 'grant', revoke: 'revoke-grant' } as const satisfies Record<GrantChange['verb'], string>;

/** The privileges of a new user or provision: the default ones and those that are granted to it. Throws an OperatorError. */
export const withDefaults = (grants: readonly string[]): Privilege[] =>
  applyChange(DEFAULT_PRIVILEGES, { verb: 'grant', privileges: grants });

/** The privileges that are held after a change, in the order of the table. Throws an OperatorError for a word that is no privilege. */
export function applyChange(held: readonly string[], change: GrantChange): Privilege[] {
  const wrong = change.privileges.find((privilege) => !isPrivilege(privilege));
  if (wrong !== undefined) throw new OperatorError(`There is no privilege "${wrong}"; there are ${privileges.join(', ')}`);
  const named = new Set(change.privileges);
  return privileges.filter((privilege) =>
    change.verb === 'grant' ? held.includes(privilege) || named.has(privilege) : held.includes(privilege) && !named.has(privilege),
  );
}

/** Throws an OperatorError when a user would hold the privilege of agents, which come without a session. */
export function assertUserMayHold(granted: readonly Privilege[]): void {
  if (granted.includes(AGENT_PRIVILEGE)) throw new OperatorError(`Only an API provision can be granted ${AGENT_PRIVILEGE}`);
}

/** Throws an OperatorError when a public provision would hold a privilege that only secrets may have. */
export function assertMayHold(kind: ProvisionKind, granted: readonly Privilege[]): void {
  const secret = SECRET_PRIVILEGES.find((privilege) => granted.includes(privilege));
  if (secret !== undefined && !isSecret(kind))
    throw new OperatorError(`A ${kind} provision is public: only an API provision can be granted ${secret}`);
}
