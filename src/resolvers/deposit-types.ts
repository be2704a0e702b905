import { ArgsType, Field, ID, ObjectType, registerEnumType } from 'type-graphql';
import type { DepositEntity } from '../data/entity-store';
import type { DepositParameters } from '../domain/entity-service';
import type { LocalDate } from '../values/dates';
import { createConnectionType } from './connection-types';
import { pendingEnum } from './line-filter-types';
import { LocalDateScalar } from './scalars';

export const depositStatuses = { POSTED: 'POSTED', PENDING: 'PENDING' } as const;
registerEnumType(depositStatuses, {
  name: 'DepositStatus',
  description: 'Where a deposit is on its way.',
  valuesConfig: { POSTED: { description: 'It has arrived.' }, PENDING: { description: 'It has not arrived yet.' } },
});

@ObjectType({ simpleResolvers: true, description: 'Money that arrived together. Edges lead to its transactions.' })
export class Deposit implements DepositEntity {
  @Field(() => ID, { description: 'ID of the deposit; `depositId` of the report.' })
  id!: string;

  @Field(() => LocalDateScalar, { description: 'Date of the deposit.' })
  depositDate!: LocalDate;

  @Field(() => depositStatuses, { description: 'Whether it is posted or pending.' })
  status!: keyof typeof depositStatuses;
}

@ObjectType({ description: 'A page of deposits.' })
export class DepositConnection extends createConnectionType(Deposit, 'deposits') {}

@ArgsType()
export class DepositsArgs implements DepositParameters {
  @Field(() => LocalDateScalar, { nullable: true, description: 'First date of the deposits; any where there is none.' })
  startDate?: LocalDate | null;

  @Field(() => LocalDateScalar, { nullable: true, description: 'Last date of the deposits; any where there is none.' })
  endDate?: LocalDate | null;

  @Field(() => pendingEnum, { defaultValue: 'WITHOUT', description: 'Pending deposits.' })
  pending!: keyof typeof pendingEnum;
}
