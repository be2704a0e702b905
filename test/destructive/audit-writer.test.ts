import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { AuditChainStore } from '../../src/data/audit/audit-chain-store';
import { AuditWriter, type UnwrittenRows } from '../../src/data/audit/audit-writer';
import { citus } from '../../src/data/schema/citus';
import { Database } from '../../src/data/postgres/database';
import { NO_FACTS, type NewAuditRow } from '../../src/formats/audit-row';
import { whileAuditIsHeld } from '../support/audit-reader';
import { isDistributed, isPooled } from '../support/database';
import { createOrganization } from '../support/gateway';
import { openGateway } from '../support/open-gateway';
import { until } from '../support/until';

const gateway = openGateway();

/** Writes rows through a database of this address. */
async function withWriter(
  address: string,
  options: ConstructorParameters<typeof AuditWriter>[1],
  use: (writer: AuditWriter) => Promise<void>,
): Promise<void> {
  const database = new Database({
    address: { connectionString: address },
    ...{ poolSize: 1, longConnections: 1, connectTimeoutMs: 1000, answerTimeoutMs: 60_000, onConnectionLost: () => undefined },
    isPooled,
    ...(isDistributed && { placement: citus }),
  });
  try {
    await use(new AuditWriter(new AuditChainStore(database), options));
  } finally {
    await database.close();
  }
}

const newRow = (): NewAuditRow => ({
  ...NO_FACTS,
  ...{ kind: 'read', door: 'command', operation: 'report', entry: randomUUID(), part: 'only', at: new Date() },
});

test('a row is refused at once while as many wait as may, and those that wait are written', async () => {
  const organization = await createOrganization(gateway.services);
  await withWriter(gateway.database.url, { maxWaitMs: 60_000, maxWaiting: 2 }, async (writer) => {
    const write = () => writer.write(organization.id, newRow());
    let waiting: readonly Promise<void>[] = [];
    await whileAuditIsHeld(gateway.database.url, organization, async () => {
      waiting = [write(), write()];
      await expect(write()).rejects.toMatchObject({ code: 'NO_DATA_SOURCE_CONNECTION', retryAfterSeconds: 1 });
      expect(writer.figures).toEqual({ waiting: 2, written: 0, refused: 1 });
    });
    await Promise.all(waiting);
    await write();
    expect(writer.figures).toEqual({ waiting: 0, written: 3, refused: 1 });
  });
  expect(await gateway.services.audit.verify(organization.id)).toMatchObject({ fault: null });
});

/** Has a server that takes connections and says nothing stand for the database. */
async function whileSilent(use: (address: string, countConnections: () => number) => Promise<void>): Promise<void> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => void sockets.add(socket)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    await use(`postgresql://nobody@127.0.0.1:${(server.address() as AddressInfo).port}/none`, () => sockets.size);
  } finally {
    for (const socket of sockets) socket.destroy();
    server.close();
  }
}

test('a gateway that stops asks a silent database for no row whose caller was refused', async () => {
  const { id } = await createOrganization(gateway.services);
  await whileSilent((address, countConnections) =>
    withWriter(address, { maxWaitMs: 50, maxWaiting: 5000 }, async (writer) => {
      for (let again = 0; again < 5; again++) {
        await expect(writer.write(id, newRow())).rejects.toMatchObject({ code: 'NO_DATA_SOURCE_CONNECTION' });
      }
      await writer.close();
      expect(countConnections()).toBe(1);
    }),
  );
});

test('an operator is told of all rows that wait for a silent database, and of all that are lost at a stop', async () => {
  const { id } = await createOrganization(gateway.services);
  const told: (readonly [number, boolean])[] = [];
  const onUnwritten = ({ rows, isLost }: UnwrittenRows): void => void told.push([rows, isLost]);
  await whileSilent((address) =>
    withWriter(address, { maxWaitMs: 50, maxWaiting: 5000, onUnwritten }, async (writer) => {
      for (let row = 0; row < 250; row++) writer.writeLater(id, newRow());
      await until(() => told.length > 0);
      await writer.close();
      expect(told).toEqual([
        [250, false],
        [250, true],
      ]);
      expect(writer.figures).toMatchObject({ waiting: 0, written: 0 });
    }),
  );
});

test('a gateway that stops writes all rows of callers, also those that one statement does not take', async () => {
  const organization = await createOrganization(gateway.services);
  await withWriter(gateway.database.url, { maxWaitMs: 60_000, maxWaiting: 5000 }, async (writer) => {
    const { length } = Array.from({ length: 450 }, () => writer.write(organization.id, newRow()));
    await writer.close();
    expect(writer.figures).toMatchObject({ waiting: 0, written: length });
  });
  expect(await gateway.services.audit.verify(organization.id)).toMatchObject({ fault: null });
});
