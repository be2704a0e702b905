-- Creates the two roles and the database of a gateway on a PostgreSQL of your own. Run it once with psql, as a superuser: it asks for the
-- passwords, so that no list of processes shows them. A role is one for all databases of a server.
-- `deposit_gateway_owner` owns the tables: `migrate` and all other commands connect as it. `deposit_gateway_serving` is for `serve`.
-- Its grants are in grants.sql, which `deposit-gateway migrate` applies after the migrations.

\prompt 'Password of deposit_gateway_owner: ' owner_password
\prompt 'Password of deposit_gateway_serving: ' serving_password
CREATE ROLE deposit_gateway_owner LOGIN PASSWORD :'owner_password';
CREATE ROLE deposit_gateway_serving LOGIN PASSWORD :'serving_password';
CREATE DATABASE deposit_gateway OWNER deposit_gateway_owner;
REVOKE ALL ON DATABASE deposit_gateway FROM PUBLIC;
GRANT CONNECT ON DATABASE deposit_gateway TO deposit_gateway_serving;
-- Before PostgreSQL 15, everybody may create tables in the schema public, and another may own it.
\connect deposit_gateway
REVOKE ALL ON SCHEMA public FROM PUBLIC;
ALTER SCHEMA public OWNER TO deposit_gateway_owner;
