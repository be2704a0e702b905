import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { RunningGateway } from '../support/gateway';
import { openGateway } from '../support/open-gateway';

const patient = openGateway();
const impatient = openGateway({ settings: { KEEP_ALIVE_SECONDS: '1' } });

const open = ({ url }: RunningGateway): Socket => connect(Number(new URL(url).port), '127.0.0.1').setEncoding('latin1');

/** Asks on a connection, and returns what it is told of the next request; the answer is one piece. */
async function ask(socket: Socket): Promise<unknown[]> {
  socket.write('GET /live HTTP/1.1\r\nHost: localhost\r\n\r\n');
  const [answer] = (await once(socket, 'data')) as [string];
  return [answer.split('\r\n')[0], /^Connection: (.*)\r$/m.exec(answer)?.[1], /^Keep-Alive: (.*)\r$/m.exec(answer)?.[1]];
}

test('a client is told how long a connection stays open, and it is closed after that, while another one with a longer time stays open', async () => {
  const [long, short] = [open(patient), open(impatient)];
  expect([await ask(long), await ask(short)]).toEqual([
    ['HTTP/1.1 200 OK', 'keep-alive', 'timeout=75'],
    ['HTTP/1.1 200 OK', 'keep-alive', 'timeout=1'],
  ]);
  await once(short, 'end');
  expect(await ask(long)).toEqual(['HTTP/1.1 200 OK', 'keep-alive', 'timeout=75']);
  long.destroy();
});
