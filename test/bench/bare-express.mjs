import express from 'express';
import pg from 'pg';

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL });

const authenticationTest = (message) => async (request, response) => {
  const { rows } = await pool.query('SELECT id FROM provision WHERE id = $1', [request.get('Provision')]);
  response.json({ data: { message, provision: rows[0].id } });
};

const app = express();
app.get('/authenticated_test_system', authenticationTest('System request authenticated'));
app.get('/authenticated_test_session', authenticationTest('Session request authenticated'));

const server = app.listen(0, '127.0.0.1', () => console.log(`listening ${server.address().port}`));
process.once('SIGTERM', () => server.close(() => pool.end()));
