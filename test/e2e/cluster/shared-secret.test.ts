/** What clients may take from one node to another: TLS sessions and DNS cookies. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { TestAuthority } from '../../support/dns/certificates.ts';
import { UdpClient } from '../../support/dns/dns-client.ts';
import { DotClient } from '../../support/dns/dot-client.ts';
import { until } from '../../support/parts/until.ts';
import { makeTempDir, prepareDataDir } from '../../support/weir/data-dir.ts';
import type { TempDir } from '../../support/weir/data-dir.ts';
import { encryptedToml } from '../../support/weir/encrypted-toml.ts';
import { freePort } from '../../support/weir/free-ports.ts';
import { type SharedDatabase, startSharedDatabase } from '../../support/weir/shared-database.ts';
import { Weir } from '../../support/weir/weir-process.ts';

const SERVER_NAME = 'dns.example.org';
const LOCAL = 'here.home.example';
/** A client network may shake hands 60 times a second. */
const HANDSHAKE_PAUSE_MS = 100;
const CLIENT_COOKIE = Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8);

interface ClusterNode {
  readonly weir: Weir;
  readonly dotPort: number;
}

let folder: TempDir;
let database: SharedDatabase;
let authority: TestAuthority;
let first: ClusterNode;
let second: ClusterNode;

beforeAll(async () => {
  folder = makeTempDir();
  authority = new TestAuthority();
  database = await startSharedDatabase(folder.dataDir);
  await prepareDataDir(join(folder.path, 'prepared'), database.url);
  const certificate = authority.issue(`DNS:${SERVER_NAME}`);
  const start = async (nodeName: string): Promise<ClusterNode> => {
    const path = join(folder.path, nodeName);
    mkdirSync(path);
    const [dotPort, dohPort] = [await freePort(['127.0.0.1']), await freePort(['127.0.0.1'])];
    const weir = await Weir.start({
      nodeName,
      room: { path, dataDir: join(path, 'data'), remove: () => undefined },
      env: { WEIR_DATABASE_URL: database.url },
      toml: `${encryptedToml({ dot: dotPort, doh: dohPort }, certificate)}
[dns]
local_records = ["${LOCAL} A 192.0.2.20"]
`,
    });
    return { weir, dotPort };
  };
  first = await start('first');
  second = await start('second');
});
afterAll(async () => {
  for (const { weir } of [second, first]) await weir.stop();
  await database[Symbol.asyncDispose]();
  authority.close();
  folder.remove();
});

describe('with two nodes', () => {
  test.each(['TLSv1.2', 'TLSv1.3'] as const)(
    'a session of %s that began at one goes on at the other',
    async (version) => {
      const options = {
        ...{ ca: authority.cert, servername: SERVER_NAME },
        ...{ maxVersion: version, minVersion: version },
      };
      const isResumed = async (): Promise<boolean> => {
        const begun = await DotClient.open(first.dotPort, options);
        let session: Buffer | undefined;
        begun.socket.on('session', (given: Buffer) => (session = given));
        await begun.ask(LOCAL, 'A');
        session ??= begun.socket.getSession();
        const other = await DotClient.open(second.dotPort, { ...options, session });
        const { data } = await other.ask(LOCAL, 'A');
        expect(data).toEqual(['192.0.2.20']);
        const isReused = other.socket.isSessionReused();
        for (const dot of [begun, other]) dot.close();
        return isReused;
      };
      // A node that joins answers before it knows the secret of the others.
      await until(isResumed, HANDSHAKE_PAUSE_MS);
    },
  );

  test('a server cookie of one proves the address to the other', async () => {
    const [atFirst, atSecond] = [
      await UdpClient.open(first.weir.dnsPort),
      await UdpClient.open(second.weir.dnsPort),
    ];
    const isTaken = async (): Promise<boolean> => {
      const given = (await atFirst.ask(LOCAL, 'A', { edns: { cookie: CLIENT_COOKIE } })).cookie!;
      // A server gives back the cookie that it takes, and another one in place of any other.
      const { cookie } = await atSecond.ask(LOCAL, 'A', { edns: { cookie: given } });
      return Buffer.from(given).equals(Buffer.from(cookie!));
    };
    await until(isTaken);
    for (const client of [atFirst, atSecond]) client.close();
  });
});
