#!/bin/sh
# Makes the secrets of compose.yaml, each of which one service or two read. It changes none that are there.
set -eu
cd "$(dirname "$0")"
if [ -e secrets ]; then echo 'The folder secrets is there already.' >&2; exit 1; fi
password() { od -An -N24 -tx1 /dev/urandom | tr -d ' \n'; }
mkdir -m 700 secrets
cd secrets
owner=$(password) serving=$(password)
password > postgres-password
echo "$owner" > owner-password
echo "$serving" > serving-password
echo "postgresql://deposit_gateway_owner:$owner@postgres:5432/deposit_gateway" > owner-url
echo "postgresql://deposit_gateway_serving:$serving@postgres:5432/deposit_gateway" > serving-url
# The services are users of their own. The folder keeps all others of this machine out.
chmod 444 ./*
