import type { ProvisionKind } from '../data/organization-store';

/** Privileges carry the names of the v2 actions (contract section 4). */
export const privileges = [
  'authenticated_test_system',
  'authenticated_test_session',
  'deposit_detail_designation_detail_with_contact_info',
] as const;

export type Privilege = (typeof privileges)[number];

/** The report with donors' personal data: never granted unless asked for. */
export const REPORT_PRIVILEGE = 'deposit_detail_designation_detail_with_contact_info' satisfies Privilege;

/** What every new provision and user may do. */
export const DEFAULT_PRIVILEGES: readonly Privilege[] = ['authenticated_test_system', 'authenticated_test_session'];

/** A WEB or MOBILE provision ships inside an app and is public; only an API provision is a credential that opens anything by itself. */
export const isSecret = (kind: ProvisionKind): boolean => kind === 'API';

export const isPrivilege = (text: string): text is Privilege => privileges.some((privilege) => privilege === text);
