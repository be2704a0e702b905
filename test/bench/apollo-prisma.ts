import 'reflect-metadata';
import { ApolloServer } from '@apollo/server';
import { startStandaloneServer } from '@apollo/server/standalone';
import { PrismaPg } from '@prisma/adapter-pg';
import { Arg, buildSchema, Field, Float, ObjectType, Query, Resolver } from 'type-graphql';
import { PrismaClient } from '../../src/generated/prisma/client';

const prisma = new PrismaClient({ adapter: new PrismaPg({ connectionString: process.env.DATABASE_URL }) });
const organizationId = Number(process.env.ORGANIZATION_ID);

@ObjectType()
class DepositDetail {
  @Field(() => String) depositId!: string;
  @Field(() => String) transactionDate!: string;
  @Field(() => String) depositDate!: string;
  @Field(() => String) transactionId!: string;
  @Field(() => String) allocationId!: string;
  @Field(() => Float) donorId!: number;
  @Field(() => String) donorFirstName!: string;
  @Field(() => String) donorLastName!: string;
  @Field(() => String) address1!: string;
  @Field(() => String) address2!: string;
  @Field(() => String) address3!: string;
  @Field(() => String) city!: string;
  @Field(() => String) state!: string;
  @Field(() => String) zip!: string;
  @Field(() => String) phone!: string;
  @Field(() => String) emailAddress!: string;
  @Field(() => String) amount!: string;
  @Field(() => String) feeAmount!: string;
  @Field(() => String) netAmount!: string;
  @Field(() => String) status!: string;
  @Field(() => String) accountType!: string;
  @Field(() => String) paymentType!: string;
  @Field(() => Float) designationId!: number;
  @Field(() => String) designation!: string;
  @Field(() => String) designationMemo!: string;
  @Field(() => String) mainMemo!: string;
}

const toText = (date: Date): string => date.toISOString().slice(0, 10);

@Resolver()
class DepositDetailResolver {
  @Query(() => [DepositDetail])
  async depositDetails(
    @Arg('startDate', () => String) startDate: string,
    @Arg('endDate', () => String) endDate: string,
    @Arg('includePending', () => Boolean, { defaultValue: false }) includePending: boolean,
  ): Promise<DepositDetail[]> {
    const lines = await prisma.depositLine.findMany({
      where: {
        organizationId,
        until: Number.MAX_SAFE_INTEGER,
        depositDate: { gte: new Date(startDate), lte: new Date(endDate) },
        ...(includePending ? {} : { depositStatus: 'POSTED' }),
      },
      omit: { since: true, until: true, moneySince: true, donorSearch: true, allocationAmount: true, allocationAmountInferred: true },
      orderBy: [{ depositDate: 'asc' }, { depositId: 'asc' }, { transactionId: 'asc' }, { allocationId: 'asc' }],
    });
    return lines.map((line) => ({
      ...line,
      transactionDate: toText(line.transactionDate),
      depositDate: toText(line.depositDate),
      donorId: Number(line.donorId),
      designationId: Number(line.designationId),
      amount: line.amount.toFixed(2),
      feeAmount: line.feeAmount.toFixed(2),
      netAmount: line.netAmount.toFixed(2),
    }));
  }
}

async function main(): Promise<void> {
  const schema = await buildSchema({ resolvers: [DepositDetailResolver] });
  const server = new ApolloServer({ schema });
  const { url } = await startStandaloneServer(server, { listen: { host: '127.0.0.1', port: 0 } });
  console.log(`listening ${new URL(url).port}`);
}

void main();
