/** The privileges have the names of the v2 actions (contract section 4), but for those of the audit, of closes and of agents, which v2 does not have. */
export const privileges = [
  'authenticated_test_system',
  'authenticated_test_session',
  'deposit_detail_designation_detail_with_contact_info',
  'audit_records',
  'close_periods',
  'agent',
] as const;

export type Privilege = (typeof privileges)[number];

/** The privilege to read the report with donors' personal data. It is granted only on request. */
export const REPORT_PRIVILEGE = 'deposit_detail_designation_detail_with_contact_info' satisfies Privilege;

/** The privilege to read the audit. It is granted only on request. */
export const AUDIT_PRIVILEGE = 'audit_records' satisfies Privilege;

/** The privilege to close months and to reopen them. It is granted only on request. */
export const CLOSE_PRIVILEGE = 'close_periods' satisfies Privilege;

/** The privilege to call tools at the door of agents. Only an API provision can be granted it. */
export const AGENT_PRIVILEGE = 'agent' satisfies Privilege;

/** The privileges that no public provision can be granted. */
export const SECRET_PRIVILEGES: readonly Privilege[] = [REPORT_PRIVILEGE, AUDIT_PRIVILEGE, CLOSE_PRIVILEGE, AGENT_PRIVILEGE];

/** The privileges that every new provision and user has. */
export const DEFAULT_PRIVILEGES: readonly Privilege[] = ['authenticated_test_system', 'authenticated_test_session'];

/** True for an API provision, a secret that opens data by itself. WEB and MOBILE provisions ship inside an app and are public. */
export const isSecret = (kind: 'API' | 'MOBILE' | 'WEB'): boolean => kind === 'API';

export const isPrivilege = (text: string): text is Privilege => privileges.some((privilege) => privilege === text);
