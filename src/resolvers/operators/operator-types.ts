import { GraphQLSafeInt } from 'graphql-scalars';
import { Field, GraphQLISODateTime, Int, ObjectType, registerEnumType } from 'type-graphql';
import type { ProvisionKind } from '../../data/access/organization-store';
import type { ProvisionRow } from '../../data/access/provision-store';

/** The kinds of applications, as operators choose them. */
export const issuedKindEnum = { WEB: 'WEB', MOBILE: 'MOBILE', API: 'API' } as const satisfies Readonly<
  Record<ProvisionKind, ProvisionKind>
>;
registerEnumType(issuedKindEnum, {
  name: 'ProvisionKind',
  description: 'Kind of the application that a provision is issued to.',
  valuesConfig: {
    WEB: { description: 'A website. Its provision is public.' },
    MOBILE: { description: 'A mobile app. Its provision is public.' },
    API: { description: 'A server or a script. Its provision is a secret.' },
  },
});

@ObjectType('Provision', { simpleResolvers: true, description: 'A provision, without its secret.' })
export class IssuedProvision {
  @Field(() => Int, { description: 'Number by which mutations take it, as well as by its first characters and by the whole UUID.' })
  number!: number;

  @Field(() => String, { description: 'First eight characters of its newest UUID.' })
  firstCharacters!: string;

  @Field(() => String, { description: 'Name of its organization.' })
  organization!: string;

  @Field(() => issuedKindEnum, { description: 'Kind of its application.' })
  kind!: ProvisionKind;

  @Field(() => String, { description: 'Note on its purpose; may be empty.' })
  label!: string;

  @Field(() => [String], { description: 'Privileges that it was granted.' })
  privileges!: readonly string[];

  @Field(() => [String], { description: 'Networks that its callers come from; none means any.' })
  addresses!: readonly string[];

  @Field(() => [String], { description: 'Saved reports that it opens alone; none means that it is not bound to reports.' })
  reports!: readonly string[];

  @Field(() => GraphQLISODateTime, { description: 'Time at which it was issued.' })
  createdAt!: Date;

  @Field(() => GraphQLISODateTime, { nullable: true, description: 'Time of its last use, to the minute; null when it was not used.' })
  lastUsedAt!: Date | null;

  @Field(() => GraphQLISODateTime, { nullable: true, description: 'Time from which it is refused; null for never.' })
  expiresAt!: Date | null;

  @Field(() => GraphQLISODateTime, { nullable: true, description: 'Time at which it was revoked; null when it was not.' })
  revokedAt!: Date | null;
}

@ObjectType({ simpleResolvers: true, description: 'A provision with its UUID, which is in this answer alone.' })
export class NewProvision {
  @Field(() => String, { description: 'UUID that the application sends in the header `Provision`.' })
  uuid!: string;

  @Field(() => IssuedProvision, { description: 'The provision.' })
  provision!: IssuedProvision;

  @Field(() => GraphQLISODateTime, {
    nullable: true,
    description: 'Time from which the earlier UUIDs are refused; null for a new provision.',
  })
  earlierExpiresAt!: Date | null;
}

@ObjectType('User', { simpleResolvers: true, description: 'A user of an organization.' })
export class OperatedUser {
  @Field(() => String, { description: 'Name that the user logs in with.' })
  username!: string;

  @Field(() => [String], { description: 'Privileges that the user was granted.' })
  privileges!: readonly string[];

  @Field(() => GraphQLISODateTime, { description: 'Time at which the user was created.' })
  createdAt!: Date;

  @Field(() => GraphQLISODateTime, { nullable: true, description: 'Time at which the user was disabled; null for a user who may log in.' })
  disabledAt!: Date | null;
}

@ObjectType('Session', { simpleResolvers: true, description: 'An open login.' })
export class OperatedSession {
  @Field(() => String, { description: 'Name by which `endSession` takes it. It is no token.' })
  id!: string;

  @Field(() => String, { description: 'Name of its user.' })
  username!: string;

  @Field(() => String, { description: 'First eight characters of its provision.' })
  provision!: string;

  @Field(() => GraphQLISODateTime, { description: 'Time of the login.' })
  createdAt!: Date;

  @Field(() => GraphQLISODateTime, { description: 'Time of its last request, to the minute.' })
  lastSeenAt!: Date;

  @Field(() => GraphQLISODateTime, { description: 'Time at which it ends at the latest.' })
  expiresAt!: Date;
}

@ObjectType('Organization', { simpleResolvers: true, description: 'An organization.' })
export class OperatedOrganization {
  @Field(() => String, { description: 'Its name.' })
  name!: string;

  @Field(() => [String], { description: 'Host names at which it may be reached; none means any.' })
  hosts!: readonly string[];

  @Field(() => Boolean, { description: 'True while it is answered "Under maintenance".' })
  underMaintenance!: boolean;

  @Field(() => Int, { description: 'Month with which its fiscal year begins, 1 to 12.' })
  fiscalYearStart!: number;

  @Field(() => String, { description: 'IANA name of the time zone in which its days begin.' })
  timeZone!: string;

  @Field(() => String, { nullable: true, description: 'ISO 4217 code of the currency that its amounts are shown with; null for none.' })
  currency!: string | null;

  @Field(() => GraphQLISODateTime, {
    nullable: true,
    description: "Time since which its callers of v2 hear that v2 is deprecated; null for the setting's.",
  })
  v2DeprecatedAt!: Date | null;

  @Field(() => GraphQLISODateTime, {
    nullable: true,
    description: "Time from which they hear that v2 may be gone; null for the setting's.",
  })
  v2SunsetAt!: Date | null;

  @Field(() => String, { nullable: true, description: "Page that says how to leave v2; null for the setting's." })
  v2MigrationLink!: string | null;
}

@ObjectType({ simpleResolvers: true, description: 'Requests of a user agent with a provision to a v2 path.' })
export class V2Usage {
  @Field(() => String, { description: 'Name of the organization.' })
  organization!: string;

  @Field(() => Int, { description: 'Number of the provision.' })
  number!: number;

  @Field(() => String, { description: 'First eight characters of its newest UUID.' })
  provision!: string;

  @Field(() => String, { description: 'Note on its purpose; may be empty.' })
  label!: string;

  @Field(() => String, { description: 'The path.' })
  path!: string;

  @Field(() => String, { description: 'User agent as the caller named it; `other` stands for those that a day had no place for.' })
  userAgent!: string;

  @Field(() => GraphQLSafeInt, { description: 'Number of requests.' })
  requests!: number;

  @Field(() => GraphQLSafeInt, { description: 'Requests that were answered with an error, or whose answer broke off.' })
  errors!: number;

  @Field(() => GraphQLSafeInt, { description: "The report's lines that the answers had." })
  lines!: number;

  @Field(() => GraphQLISODateTime, { description: 'Time of the newest request.' })
  lastUsedAt!: Date;
}

@ObjectType({ simpleResolvers: true, description: 'The end of an organization.' })
export class OrganizationDeletion {
  @Field(() => String, {
    nullable: true,
    description: 'Number and hash of the last row of its audit, as `audit anchor` prints them; null when there was no row.',
  })
  lastAnchor!: string | null;
}

/** A provision as operators see it. */
export const toIssued = ({ id, keys, organization, ...provision }: ProvisionRow): IssuedProvision => ({
  ...provision,
  number: id,
  firstCharacters: keys[0]!.firstCharacters,
  organization: organization.name,
});
