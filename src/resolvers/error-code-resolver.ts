import { Ctx, Query, registerEnumType, Resolver } from 'type-graphql';
import { errorTable, requestFaultTable } from '../errors';
import type { RequestContext } from './request/request-context';

const rows = Object.entries({ ...errorTable, ...requestFaultTable });
type Code = keyof typeof errorTable | keyof typeof requestFaultTable;

const errorCodeEnum = Object.fromEntries(rows.map(([code]) => [code, code])) as { readonly [Each in Code]: Each };
registerEnumType(errorCodeEnum, {
  name: 'ErrorCode',
  description: 'A code of an error, as `extensions.code` has it. Later versions may add codes.',
  valuesConfig: Object.fromEntries(rows.map(([code, { text }]) => [code, { description: `${text.replace(/\.$/, '')}.` }])),
});

@Resolver()
export class ErrorCodeResolver {
  @Query(() => [errorCodeEnum], {
    description:
      'Every code that `extensions.code` of an error can have. It brings the enum into the schema, so that tools write a type for it. Needs no privilege.',
  })
  async errorCodes(@Ctx() { access }: RequestContext): Promise<Code[]> {
    await access.authorizeProvision();
    return Object.values(errorCodeEnum);
  }
}
