import { Arg, Int, Query, Resolver } from 'type-graphql';
import type { UsageRow } from '../../data/access/usage-store';
import { DEFAULT_DAYS, type UsageService } from '../../domain/access/usage-service';
import { V2Usage } from './operator-types';

/** The callers of v2, as the command `usage` tells them. */
@Resolver()
export class UsageOperations {
  constructor(private readonly usage: UsageService) {}

  @Query(() => [V2Usage], { name: 'usage', description: 'The callers of v2, by organization, the newest use first.' })
  list(
    @Arg('organization', () => String, { nullable: true, description: 'Name of the organization; all when it is missing.' })
    organization: string | null | undefined,
    @Arg('days', () => Int, { defaultValue: DEFAULT_DAYS, description: 'Number of days up to today, in UTC.' }) days: number,
  ): Promise<UsageRow[]> {
    return this.usage.list(organization ?? undefined, days);
  }
}
