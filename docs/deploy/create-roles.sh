#!/bin/sh
# Creates the roles and the database when the container of PostgreSQL begins for the first time. psql answers its prompts with the secrets.
set -eu
cat /run/secrets/owner-password /run/secrets/serving-password |
  psql --set ON_ERROR_STOP=1 --no-psqlrc --username "${POSTGRES_USER:-postgres}" --file /etc/deposit-gateway/create.sql
