/**
 * TLS and passwords with a real PostgreSQL that only accepts TLS connections.
 *
 * @needs openssl
 */
import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { chmodSync, chownSync, copyFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { TestAuthority } from '../../../../test/support/dns/certificates.ts';
import { layCluster } from '../../../../test/support/parts/made-cluster.ts';
import { MemoryLogger } from '../../../../test/support/parts/memory-logger.ts';
import { makeTempDir } from '../../../../test/support/parts/test-database.ts';
import { freePort } from '../../../../test/support/weir/free-ports.ts';
import { fromSentTarget, parseDatabaseUrls, toSentTarget, type UrlKeys } from '../database-target.ts';
import { openPostgresHome } from '../postgres/postgres-home.ts';
import { launchPostgres } from '../postgres/postgres-process.ts';
import { findPostgresPackage, prepareRuntime } from '../postgres/postgres-runtime.ts';
import { choosePostgresSocket } from '../postgres/postgres-socket.ts';

const stack = new AsyncDisposableStack();
const root = makeTempDir();
const passwordFile = join(root, 'password');
const emitWarning = jest.spyOn(process, 'emitWarning');
let authority: TestAuthority;
let other: TestAuthority;
let port = 0;
let password = '';

beforeAll(async () => {
  stack.defer(() => rmSync(root, { recursive: true }));
  authority = new TestAuthority();
  other = new TestAuthority();
  for (const each of [authority, other]) stack.defer(() => each.close());
  const dataDir = join(root, 'data');
  await layCluster(dataDir);
  password = readFileSync(join(dataDir, 'postgres.password'), 'utf8').trim();
  const home = openPostgresHome(dataDir);
  const { cluster, account } = home;
  writeFileSync(join(cluster, 'pg_hba.conf'), 'hostssl all all 127.0.0.1/32 scram-sha-256\n');
  const certificate = authority.issue('DNS:localhost');
  const files = { ssl_cert_file: certificate.certPath, ssl_key_file: certificate.keyPath };
  const settings: Record<string, string> = {};
  for (const [name, path] of Object.entries(files)) {
    settings[name] = join(cluster, name);
    copyFileSync(path, settings[name]);
    chmodSync(settings[name], 0o600);
    if (!account.isSelf) chownSync(settings[name], account.uid, account.gid);
  }
  const socket = await choosePostgresSocket(home);
  stack.defer(() => socket.cleanUp());
  port = await freePort(['127.0.0.1']);
  const server = await launchPostgres({
    ...{ runtime: prepareRuntime(findPostgresPackage(), account, home.dir), cluster, account },
    settings: { ...socket.settings, ...settings, ssl: 'on', listen_addresses: '127.0.0.1', port },
    logger: new MemoryLogger(),
  });
  stack.defer(() => server.stop(5000));
});
beforeEach(() => {
  emitWarning.mockClear();
  writeFileSync(passwordFile, `${password}\n`);
  chmodSync(passwordFile, 0o640);
});
afterAll(() => stack.disposeAsync());

/** Whether a new connection uses TLS; rejects if connecting fails. */
async function connect(
  { host = 'localhost', parameters = '', secret = `:${password}` },
  keys: Partial<UrlKeys> = {},
  sent = false,
): Promise<boolean> {
  const url = `postgres://weir${secret}@${host}:${port}/postgres?${parameters}`;
  const all = { sslmode: '', sslrootcert: '', passwordFile: '', ownerPasswordFile: '', ...keys } as const;
  const [target] = parseDatabaseUrls(url, [], all);
  if (target?.fault !== undefined) throw target.fault;
  const { config } = sent ? fromSentTarget(structuredClone(toSentTarget(target!))) : target!;
  const client = new pg.Client(config);
  try {
    await client.connect();
    const { rows } = await client.query<{ ssl: boolean }>(
      'SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()',
    );
    return rows[0]!.ssl;
  } finally {
    await client.end();
  }
}

const rootOf = (which: 'own' | 'other'): string =>
  join((which === 'own' ? authority : other).folder, 'ca.pem');

describe('database.sslmode and database.sslrootcert', () => {
  test.each([
    ['require', '127.0.0.1', null],
    ['require', 'localhost', 'own'],
    ['verify-ca', '127.0.0.1', 'own'],
    ['verify-full', 'localhost', 'own'],
    ['', 'localhost', 'own'],
  ] as const)(
    'let sslmode "%s" connect to %s with the certificate authority: %s',
    async (sslmode, host, ca) => {
      const keys = { sslmode, sslrootcert: ca === null ? '' : rootOf(ca) };
      expect(await connect({ host }, keys)).toBe(true);
      expect(await connect({ host }, keys, true)).toBe(true);
      const inUrl = [sslmode && `sslmode=${sslmode}`, ca && `sslrootcert=${encodeURIComponent(rootOf(ca))}`];
      expect(await connect({ host, parameters: inUrl.filter(Boolean).join('&') })).toBe(true);
      expect(emitWarning).not.toHaveBeenCalled();
    },
  );

  test.each([
    ['disable', 'localhost', 'own', /no encryption/],
    ['', 'localhost', null, /no encryption/],
    ['require', 'localhost', 'other', /certificate/],
    ['verify-ca', 'localhost', 'other', /certificate/],
    ['verify-full', 'localhost', 'other', /certificate/],
    ['verify-full', 'localhost', null, /certificate/],
    ['verify-full', '127.0.0.1', 'own', /does not match certificate/],
  ] as const)(
    'let sslmode "%s" refuse to connect to %s with the certificate authority: %s',
    async (sslmode, host, ca, fault) => {
      const keys = { sslmode, sslrootcert: ca === null ? '' : rootOf(ca) };
      await expect(connect({ host }, keys)).rejects.toThrow(fault);
      await expect(connect({ host }, keys, true)).rejects.toThrow(fault);
    },
  );

  test('are overridden by sslmode in a URL, which also overrides PGSSLMODE', async () => {
    expect(await connect({ parameters: 'sslmode=require' }, { sslmode: 'disable' })).toBe(true);
    process.env['PGSSLMODE'] = 'require';
    try {
      expect(await connect({})).toBe(true);
      await expect(connect({}, { sslmode: 'disable' })).rejects.toThrow(/no encryption/);
    } finally {
      delete process.env['PGSSLMODE'];
    }
  });

  test('cause an error that names a missing CA file', async () => {
    const keys = { sslrootcert: join(root, 'none.pem') };
    await expect(connect({}, keys)).rejects.toThrow(/read the sslrootcert of PostgreSQL: .*none\.pem/);
  });
});

describe('database.password_file', () => {
  const keys = { sslmode: 'require', passwordFile } as const;

  test('is read for each new connection, and its password is not sent to other threads', async () => {
    const [target] = parseDatabaseUrls(`postgres://weir@localhost:${port}/postgres`, [], {
      ...{ ...keys, sslrootcert: '', ownerPasswordFile: '' },
    });
    const pool = new pg.Pool({ ...target!.config, max: 1, maxUses: 1 });
    stack.defer(() => pool.end());
    writeFileSync(passwordFile, 'of-yesterday');
    await expect(pool.query('SELECT 1')).rejects.toThrow('password authentication failed');
    writeFileSync(passwordFile, password);
    expect((await pool.query('SELECT 1')).rowCount).toBe(1);
    expect(JSON.stringify(toSentTarget(target!))).not.toContain(password);
    expect(await connect({ secret: '' }, keys, true)).toBe(true);
  });

  test.each([
    [
      'that is open to every user',
      () => chmodSync(passwordFile, 0o644),
      /password is accessible to every user/,
    ],
    ['that is empty', () => writeFileSync(passwordFile, '\n'), /first line of .* is empty/],
    ['that does not exist', () => rmSync(passwordFile), /read the password of the database: ENOENT/],
  ])('refuses a file %s, with an error that contains its name', async (_what, spoil, fault) => {
    spoil();
    await expect(connect({ secret: '' }, keys)).rejects.toThrow(fault);
  });
});
