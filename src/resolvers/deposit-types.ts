import { ArgsType, Field, ObjectType, registerEnumType } from 'type-graphql';
import type { DepositEntity } from '../data/entity-store';
import type { DepositParameters } from '../domain/entity-service';
import type { LocalDate } from '../values/dates';
import { createConnectionType } from './connection-types';
import { pendingEnum } from './line-filter-types';
import { Node } from './node-types';
import { LocalDateScalar } from './scalars';

export const depositStatusEnum = { POSTED: 'POSTED', PENDING: 'PENDING' } as const;
registerEnumType(depositStatusEnum, {
  name: 'DepositStatus',
  description: 'Status of a deposit.',
  valuesConfig: {
    POSTED: { description: 'The bank has the deposit.' },
    PENDING: { description: 'The deposit is still on its way to the bank.' },
  },
});

@ObjectType({ implements: Node, simpleResolvers: true, description: 'Transactions (gifts) that went to the bank together.' })
export class Deposit extends Node implements DepositEntity {
  @Field(() => String, { description: 'ID of the deposit in the books, unique among the organization\'s deposits, such as `"1043"`.' })
  depositId!: string;

  @Field(() => LocalDateScalar, { description: 'Date of the deposit, such as `"2026-01-31"`.' })
  depositDate!: LocalDate;

  @Field(() => depositStatusEnum, { description: 'Status of the deposit: posted or pending.' })
  status!: keyof typeof depositStatusEnum;
}

@ObjectType({ description: 'A page of deposits.' })
export class DepositConnection extends createConnectionType(Deposit, 'deposits') {}

@ArgsType()
export class DepositsArgs implements DepositParameters {
  @Field(() => LocalDateScalar, {
    nullable: true,
    description: 'First date of the deposits, such as `"2026-01-01"`; included. Without it the list begins with the earliest deposit.',
  })
  startDate?: LocalDate | null;

  @Field(() => LocalDateScalar, {
    nullable: true,
    description: 'Last date of the deposits, such as `"2026-01-31"`; included. Without it the list ends with the latest deposit.',
  })
  endDate?: LocalDate | null;

  @Field(() => pendingEnum, {
    defaultValue: 'WITHOUT',
    description: 'Chooses posted deposits, pending deposits or both. By default posted deposits alone.',
  })
  pending!: keyof typeof pendingEnum;
}
