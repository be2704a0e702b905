import Fastify from 'fastify';
import mercurius from 'mercurius';
import pg from 'pg';

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL });
const organizationId = Number(process.env.ORGANIZATION_ID);

const schema = `
  type DepositDetail {
    depositId: String!
    transactionDate: String!
    depositDate: String!
    transactionId: String!
    allocationId: String!
    donorId: Float!
    donorFirstName: String!
    donorLastName: String!
    address1: String!
    address2: String!
    address3: String!
    city: String!
    state: String!
    zip: String!
    phone: String!
    emailAddress: String!
    amount: String!
    feeAmount: String!
    netAmount: String!
    status: String!
    accountType: String!
    paymentType: String!
    designationId: Float!
    designation: String!
    designationMemo: String!
    mainMemo: String!
  }

  type Query {
    depositDetails(startDate: String!, endDate: String!, includePending: Boolean = false): [DepositDetail!]!
  }
`;

const DEPOSIT_DETAILS = `
  SELECT
    deposit_id AS "depositId",
    transaction_date::text AS "transactionDate",
    deposit_date::text AS "depositDate",
    transaction_id AS "transactionId",
    allocation_id AS "allocationId",
    donor_id::float8 AS "donorId",
    donor_first_name AS "donorFirstName",
    donor_last_name AS "donorLastName",
    address1,
    address2,
    address3,
    city,
    state,
    zip,
    phone,
    email_address AS "emailAddress",
    amount::text,
    fee_amount::text AS "feeAmount",
    net_amount::text AS "netAmount",
    status,
    account_type AS "accountType",
    payment_type AS "paymentType",
    designation_id::float8 AS "designationId",
    designation,
    designation_memo AS "designationMemo",
    main_memo AS "mainMemo"
  FROM deposit_line
  WHERE until = 9007199254740991
    AND organization_id = $1
    AND deposit_date BETWEEN $2 AND $3
    AND (deposit_status = 'POSTED' OR $4)
  ORDER BY deposit_date, deposit_id, transaction_id, allocation_id`;

const resolvers = {
  Query: {
    depositDetails: async (_, { startDate, endDate, includePending }) => {
      const { rows } = await pool.query(DEPOSIT_DETAILS, [organizationId, startDate, endDate, includePending]);
      return rows;
    },
  },
};

const app = Fastify();
app.register(mercurius, { schema, resolvers, jit: 1 });
process.once('SIGTERM', async () => {
  await app.close();
  await pool.end();
});

await app.listen({ host: '127.0.0.1', port: 0 });
console.log(`listening ${app.server.address().port}`);
