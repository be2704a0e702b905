# Installs the packages of test/package.json beside those of the gateway, unless the present lock file's are there already.
installed=node_modules/.lock-of-tests.json
cmp -s package-lock.json $installed && exit
echo 'Installing what the tests and the checks need.' >&2
npm install --workspaces --include-workspace-root --no-save --no-audit --no-fund --loglevel=error && cp package-lock.json $installed
