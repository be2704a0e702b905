// Needs Node 22. Serves the report as one function, or with the word `tables` all tables with connections and edges, the report as a connection
// and totals as functions: PostGraphile's own way to figures that its tables do not have.
import { createServer } from 'node:http';
import pg from 'pg';
import { postgraphile } from 'postgraphile';
import { makePgService } from 'postgraphile/adaptors/pg';
import { grafserv } from 'postgraphile/grafserv/node';
import { PostGraphileAmberPreset } from 'postgraphile/presets/amber';

const connectionString = process.env.DATABASE_URL;
const hasTables = process.argv[2] === 'tables';

const database = new pg.Client({ connectionString });
await database.connect();
await database.query(`
  CREATE SCHEMA IF NOT EXISTS bench_api;
  DROP FUNCTION IF EXISTS bench_api.deposit_details;
  CREATE FUNCTION bench_api.deposit_details(organization_id int, start_date date, end_date date, include_pending boolean)
  RETURNS SETOF public.deposit_line LANGUAGE sql STABLE AS $$
    SELECT *
    FROM public.deposit_line AS line
    WHERE line.until = 9007199254740991
      AND line.organization_id = deposit_details.organization_id
      AND line.deposit_date BETWEEN start_date AND end_date
      AND (line.deposit_status = 'POSTED' OR include_pending)
    ORDER BY line.deposit_date, line.deposit_id, line.transaction_id, line.allocation_id
  $$;
  DROP FUNCTION IF EXISTS bench_api.designation_totals, bench_api.donor_totals;
  CREATE FUNCTION bench_api.designation_totals(organization_id int, start_date date, end_date date)
  RETURNS TABLE (designation_id bigint, designation text, lines bigint, transactions bigint, amount numeric) LANGUAGE sql STABLE AS $$
    SELECT line.designation_id, min(line.designation), count(*), count(DISTINCT line.transaction_id), sum(line.allocation_amount)
    FROM public.deposit_line AS line
    WHERE line.until = 9007199254740991
      AND line.organization_id = designation_totals.organization_id
      AND line.deposit_date BETWEEN start_date AND end_date
      AND line.deposit_status = 'POSTED'
    GROUP BY line.designation_id
    ORDER BY line.designation_id
  $$;
  CREATE FUNCTION bench_api.donor_totals(organization_id int, donor_id bigint, start_date date, end_date date)
  RETURNS TABLE (lines bigint, transactions bigint, amount numeric) LANGUAGE sql STABLE AS $$
    SELECT count(*), count(DISTINCT line.transaction_id), sum(line.allocation_amount)
    FROM public.deposit_line AS line
    WHERE line.until = 9007199254740991
      AND line.organization_id = donor_totals.organization_id
      AND line.donor_id = donor_totals.donor_id
      AND line.deposit_date BETWEEN start_date AND end_date
      AND line.deposit_status = 'POSTED'
  $$;
`);
await database.end();

const pgService = makePgService({ connectionString, schemas: hasTables ? ['public', 'bench_api'] : ['bench_api'] });
const pgl = postgraphile({
  extends: [PostGraphileAmberPreset],
  pgServices: [pgService],
  schema: hasTables ? {} : { defaultBehavior: '-connection +list' },
  grafserv: { graphiql: false, watch: false },
  grafast: { explain: false },
});

const server = createServer();
const serv = pgl.createServ(grafserv);
await serv.addTo(server);
await serv.ready();
process.once('SIGTERM', () =>
  server.close(async () => {
    await pgl.release();
    await pgService.release();
  }),
);

server.listen(0, '127.0.0.1', () => console.log(`listening ${server.address().port}`));
