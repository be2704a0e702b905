import { createHash } from 'node:crypto';
import express from 'express';
import pg from 'pg';

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL });

const authenticationTest = (message) => async (request, response) => {
  const provision = request.get('Provision');
  const hash = createHash('sha256').update(provision).digest();
  const { rows } = await pool.query('SELECT FROM provision_key WHERE uuid_hash = $1', [hash]);
  response.json({ data: { message, provision: rows.length > 0 ? provision : null } });
};

const app = express();
app.get('/authenticated_test_system', authenticationTest('System request authenticated'));
app.get('/authenticated_test_session', authenticationTest('Session request authenticated'));

const server = app.listen(0, '127.0.0.1', () => console.log(`listening ${server.address().port}`));
process.once('SIGTERM', () => server.close(() => pool.end()));
