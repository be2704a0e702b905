import { GraphQLSafeInt } from 'graphql-scalars';
import { ArgsType, Field, GraphQLISODateTime, ID, InputType, ObjectType, registerEnumType } from 'type-graphql';
import type { AuditEntry } from '../../data/audit/audit-store';
import type { AuditDoor, AuditKind } from '../../formats/audit-row';
import type { PendingChoice } from '../../formats/line-conditions';
import type { LocalDate } from '../../values/dates';
import { createConnectionType } from '../request/connection-types';
import { createOrderType } from '../request/order-types';
import { pendingEnum } from '../request/line-filter-types';
import { LocalDateScalar } from '../request/scalars';

const auditKindEnum = {
  READ: 'read',
  FILE: 'file',
  LOGIN: 'login',
  LOGIN_FAILED: 'login_failed',
  LOCKOUT: 'lockout',
  LOGOUT: 'logout',
  REFUSAL: 'refusal',
  RIGHTS: 'rights',
  ANCHOR: 'anchor',
} as const satisfies Readonly<Record<Uppercase<AuditKind>, AuditKind>>;
registerEnumType(auditKindEnum, {
  name: 'AuditKind',
  description: 'Kind of an entry of the audit.',
  valuesConfig: {
    READ: { description: "Readings of donors' data. Equal ones of a caller within a minute are one entry." },
    FILE: { description: 'A file that left.' },
    LOGIN: { description: 'A login.' },
    LOGIN_FAILED: { description: 'Logins with a wrong name or password.' },
    LOCKOUT: { description: 'Logins that were refused after many failures.' },
    LOGOUT: { description: 'A logout.' },
    REFUSAL: { description: 'Requests of a caller who lacked a privilege.' },
    RIGHTS: { description: 'A change of an organization, a provision or a user by an operator, or of a saved report by anybody.' },
    ANCHOR: { description: 'Entries before were deleted by age, as `AUDIT_RETENTION_DAYS` says.' },
  },
});

const auditDoorEnum = {
  V2: 'v2',
  GRAPHQL: 'graphql',
  FILE: 'file',
  ODATA: 'odata',
  AGENT: 'agent',
  MAIL: 'mail',
  COMMAND: 'command',
  OPERATORS: 'operators',
  GATEWAY: 'gateway',
} as const satisfies Readonly<Record<Uppercase<AuditDoor>, AuditDoor>>;
registerEnumType(auditDoorEnum, {
  name: 'AuditDoor',
  description: 'Way into the gateway.',
  valuesConfig: {
    V2: { description: 'The v2 REST paths.' },
    GRAPHQL: { description: 'GraphQL.' },
    FILE: { description: 'Files and saved reports.' },
    ODATA: { description: 'Feeds of OData.' },
    AGENT: { description: 'Tools of agents.' },
    MAIL: { description: 'Mails of reports, to the user whom the entry names.' },
    COMMAND: { description: 'The command line.' },
    OPERATORS: { description: "The operators' GraphQL." },
    GATEWAY: { description: 'The gateway itself.' },
  },
});

const auditOutcomeEnum = { WHOLE: 'whole', BROKEN: 'broken' } as const;
registerEnumType(auditOutcomeEnum, {
  name: 'AuditOutcome',
  description: 'Outcome of a reading.',
  valuesConfig: {
    WHOLE: { description: 'The whole answer left.' },
    BROKEN: { description: 'The answer, or one of several, broke off or failed.' },
  },
});

@ObjectType({
  simpleResolvers: true,
  description:
    'An entry of the audit: who has read what, or an event. It tells no data of donors and no values of conditions. Entries are never changed; the command `audit verify` proves it.',
})
export class AuditRecord implements AuditEntry {
  @Field(() => ID, { description: 'ID of the entry; that of a file is in its header `X-Export-Id`.' })
  id!: string;

  @Field(() => GraphQLSafeInt, {
    description: "Number of the entry's first row in the organization's chain. The row of an end has a number too.",
  })
  number!: number;

  @Field(() => String, { description: 'Hash of that row, in hex. It covers the row and the hash of the row before.' })
  hash!: string;

  @Field(() => auditKindEnum, { description: 'Kind of the entry.' })
  kind!: AuditKind;

  @Field(() => GraphQLISODateTime, { description: 'Time of the event, or of the first reading.' })
  startedAt!: Date;

  @Field(() => GraphQLISODateTime, {
    nullable: true,
    description: 'Time at which the entry was closed; null while it is open, and when the gateway died before.',
  })
  finishedAt!: Date | null;

  @Field(() => auditDoorEnum, { description: 'Way into the gateway.' })
  door!: AuditDoor;

  @Field(() => String, { description: 'Name of the GraphQL operation, the v2 path, the file or the command; may be empty.' })
  operation!: string;

  @Field(() => String, { nullable: true, description: 'SHA-256 of the GraphQL document, in hex; null on other doors.' })
  operationHash!: string | null;

  @Field(() => String, {
    nullable: true,
    description: 'Name of the logged-in user; on the command line, of the account of the operating system; null for neither.',
  })
  username!: string | null;

  @Field(() => String, { nullable: true, description: 'First eight characters of the provision; null on the command line.' })
  provision!: string | null;

  @Field(() => String, { nullable: true, description: 'Label that the provision had; null on the command line.' })
  provisionLabel!: string | null;

  @Field(() => String, {
    nullable: true,
    description:
      'IP address of the caller; for a lockout, only the first four groups of an IPv6 address, which limits count as one caller; null on the command line.',
  })
  address!: string | null;

  report!: AuditEntry['report'];

  @Field(() => String, { nullable: true, description: 'Format of a file, such as `"csv"`; null for other entries.' })
  format!: string | null;

  @Field(() => LocalDateScalar, {
    nullable: true,
    description:
      'First date of all that was read; null when a part had no first date. It is a deposit date; where `conditions` names a `dateBasis`, days of gifts are in it too.',
  })
  startDate!: LocalDate | null;

  @Field(() => LocalDateScalar, {
    nullable: true,
    description:
      'Last date of all that was read; null when a part had no last date. It is a deposit date unless `conditions` names a `dateBasis`.',
  })
  endDate!: LocalDate | null;

  @Field(() => pendingEnum, { nullable: true, description: 'Choice of pending deposits; null when a part made none.' })
  pending!: PendingChoice | null;

  @Field(() => [String], {
    description:
      'Names of the conditions, without their values, such as `["donorName"]`. Days of transactions are told by `dateBasis=TRANSACTION_DATE`, and in a file by `date_basis=TRANSACTION_DATE`.',
  })
  conditions!: readonly string[];

  @Field(() => GraphQLSafeInt, { nullable: true, description: 'Number of readings that the entry stands for; null while it is open.' })
  reads!: number | null;

  @Field(() => GraphQLSafeInt, { nullable: true, description: "Number of the report's lines that were read; null where it is not known." })
  lines!: number | null;

  /** AuditRecordResolver defines the GraphQL fields of these, because it checks the privilege. */
  bytes!: number | null;
  fileSha256!: string | null;
  digest!: string | null;

  @Field(() => String, {
    nullable: true,
    description: 'SHA-256 of the money of the lines of a file, in hex, as a summary has it; null where it is not known.',
  })
  moneyDigest!: string | null;

  @Field(() => GraphQLSafeInt, {
    nullable: true,
    description: 'Data version of the answer, or of the last one; null when nothing was read.',
  })
  dataVersion!: number | null;

  @Field(() => auditOutcomeEnum, { nullable: true, description: 'Outcome of a reading; null while it is under way, and for events.' })
  outcome!: AuditEntry['outcome'];

  @Field(() => String, {
    nullable: true,
    description: 'User or provision whose rights were changed, such as `"user ada"`, or report that was saved or deleted.',
  })
  subject!: string | null;

  @Field(() => String, { nullable: true, description: 'The event in words, such as the privileges that were granted.' })
  detail!: string | null;

  @Field(() => Boolean, {
    nullable: true,
    description: 'True for a file that may tell of donors, also by their number; null for other entries.',
  })
  tellsDonors!: boolean | null;
}

@ObjectType({ description: 'A page of entries of the audit.' })
export class AuditRecordConnection extends createConnectionType(AuditRecord, 'entries of the audit') {}

@InputType({ description: 'Conditions on entries of the audit. An entry must meet all that are given.' })
class AuditRecordFilter {
  @Field(() => [auditKindEnum], { nullable: true, description: 'Kinds of entries.' })
  kinds?: AuditKind[] | null;

  @Field(() => [auditDoorEnum], { nullable: true, description: 'Ways into the gateway.' })
  doors?: AuditDoor[] | null;

  @Field(() => String, { nullable: true, description: 'Name of the user.' })
  username?: string | null;

  @Field(() => String, { nullable: true, description: 'First eight characters of the provision.' })
  provision?: string | null;

  @Field(() => GraphQLISODateTime, { nullable: true, description: 'Time of the first entries.' })
  from?: Date | null;

  @Field(() => GraphQLISODateTime, { nullable: true, description: 'Time before which the last entries are.' })
  before?: Date | null;

  @Field(() => LocalDateScalar, {
    nullable: true,
    description: 'Readings of deposits on this day or later, and all that chose lines by the dates of transactions.',
  })
  startDate?: LocalDate | null;

  @Field(() => LocalDateScalar, {
    nullable: true,
    description: 'Readings of deposits on this day or earlier, and all that chose lines by the dates of transactions.',
  })
  endDate?: LocalDate | null;
}

const AuditRecordOrder = createOrderType<'NUMBER'>('AuditRecord', {
  items: 'entries of the audit',
  valuesConfig: { NUMBER: { description: 'Number of the entry, which is the order in which entries were written.' } },
});

@ArgsType()
export class AuditRecordListArgs {
  @Field(() => AuditRecordFilter, { nullable: true, description: 'Conditions that narrow the list.' })
  filter?: AuditRecordFilter | null;

  @Field(() => AuditRecordOrder, { nullable: true, description: 'Order of the entries; the newest first when it is not given.' })
  orderBy?: { readonly field: 'NUMBER'; readonly direction: 'ASC' | 'DESC' } | null;
}
