/** Secrets, configuration and certificates of backups. */
import { beforeEach, describe, expect, test } from '@jest/globals';
import {
  api,
  backUp,
  backUpOpenly,
  backUpSealed,
  content,
  fill,
  make,
  PASSPHRASE,
  restore,
  send,
  serveBackups,
  suite,
} from '../../../test/support/parts/backup-suite.ts';
import { openSecrets, sealSecrets } from './sealed-secrets.ts';
import { contextOf } from './secret-parts.ts';

serveBackups();
beforeEach(() => fill());

const POOLS = [{ name: 'main', servers: ['tls://dns.example@192.0.2.53'], strategy: 'Fastest', priority: 1 }];

describe('secrets in a backup', () => {
  test('are not in readable parts of the file, and are restored with the passphrase', async () => {
    const file = await backUpSealed();
    expect(file.has_secrets).toBe(true);
    expect(JSON.stringify(file)).not.toMatch(/hunter2|argon2|"key_hash":"/);
    await suite.database.query('DELETE FROM list_sources');
    await suite.database.query('DELETE FROM api_tokens');
    expect(await restore({ ...file, passphrase: PASSPHRASE })).toMatchObject({
      changes: [
        { kind: 'list_sources', created: { count: 2 } },
        { kind: 'api_tokens', created: { count: 1 } },
      ],
      left_out: [],
    });
    const { rows } = await suite.database.query(`SELECT url FROM list_sources WHERE name = 'ads'`);
    expect(rows).toEqual([{ url: 'https://me:hunter2@lists.example/ads' }]);
  });

  test('are not restored for a row that was removed from the file', async () => {
    const file = await backUpSealed();
    await restore({ ...file, api_tokens: [], passphrase: PASSPHRASE });
    expect((await backUp()).api_tokens).toEqual([]);
  });

  test('without a passphrase, with a wrong one, or if changed, are refused with 400, and nothing changes', async () => {
    const file = await backUpSealed();
    const before = content(await backUp());
    const sealed = file.secrets!;
    const data = Buffer.from(sealed.data, 'base64');
    data[7]! ^= 1;
    const other = await sealSecrets({ hidden: {}, full: { groups: 7 } }, PASSPHRASE, contextOf(file));
    const cases: [string, object][] = [
      ['passphrase', {}],
      ['passphrase', { passphrase: 'incorrect horse battery' }],
      ['passphrase', { passphrase: PASSPHRASE, secrets: { ...sealed, data: data.toString('base64') } }],
      ['passphrase', { passphrase: PASSPHRASE, secrets: { ...sealed, data: sealed.data.slice(0, 400) } }],
      ['passphrase', { passphrase: PASSPHRASE, created_at: '2026-01-15T12:00:01.000Z' }],
      ['secrets', { passphrase: PASSPHRASE, secrets: other }],
      ['secrets.kdf.n', { secrets: { ...sealed, kdf: { ...sealed.kdf, n: 2 ** 30 } } }],
      ['secrets.kdf.p', { secrets: { ...sealed, kdf: { ...sealed.kdf, p: 1000 } } }],
      ['secrets.kdf.r', { secrets: { ...sealed, kdf: { ...sealed.kdf, r: 1024 } } }],
      ['secrets.version', { secrets: { ...sealed, version: 2 } }],
      ['secrets.nonce', { secrets: { ...sealed, nonce: '' } }],
    ];
    for (const [path, change] of cases) {
      const answer = await send({ ...file, managed_domains: [], ...change });
      expect([answer.status, answer.problem.errors?.[0]?.path]).toEqual([400, path]);
      expect(answer.text).not.toContain(PASSPHRASE);
    }
    expect(content(await backUp())).toEqual(before);
  });

  test('are requested only by POST with a passphrase of 12 characters, and the request is audited', async () => {
    expect((await api.send('GET', '/api/backup?secrets=true')).status).toBe(400);
    const short = await api.send('POST', '/api/backup', { json: { passphrase: 'elevenchars' } });
    expect([short.status, short.problem.errors?.[0]?.path]).toEqual([400, 'passphrase']);
    await backUpSealed();
    const { rows } = await suite.database.query('SELECT subject FROM audit_log ORDER BY id DESC LIMIT 1');
    expect(rows).toEqual([{ subject: 'backup with secrets' }]);
  });
});

describe('the cluster configuration in a backup', () => {
  beforeEach(async () => {
    await make('PATCH', '/config', {
      blocking: { mode: 'nxdomain' },
      dns: { pools: POOLS },
      auth: { oidc: { client_secret: 'hunter3' } },
    });
  });

  test('is restored, with a report of the values before and after', async () => {
    const open = await backUpOpenly();
    expect(open.configuration).toMatchObject({
      'blocking.mode': 'nxdomain',
      'dns.pools': POOLS,
      'auth.oidc.client_secret': '***',
    });
    expect(await restore(open)).toMatchObject({ changes: [] });
    const file = { ...(await backUpSealed()), passphrase: PASSPHRASE };
    await make('PATCH', '/config', {
      blocking: { mode: 'refused' },
      dns: { pools: null },
      auth: { oidc: { client_secret: null } },
    });
    const tried = await restore(file, '?dry_run=true');
    expect(tried.changes).toMatchObject([
      {
        kind: 'configuration',
        created: { names: ['auth.oidc.client_secret: "***"', expect.stringMatching(/^dns.pools: /)] },
        changed: { names: ['blocking.mode: "refused" → "nxdomain"'] },
      },
    ]);
    // Without the encrypted part, the secret is left out and the rest is restored.
    expect(await restore(open, '?dry_run=true')).toMatchObject({
      left_out: [{ kind: 'configuration', reason: 'key_not_in_backup' }],
    });
    await restore(file);
    expect((await backUp()).configuration).toMatchObject({
      'blocking.mode': 'nxdomain',
      'dns.pools': POOLS,
      'auth.oidc.client_secret': 'hunter3',
    });
    const { rows } = await suite.database.query('SELECT * FROM audit_log');
    expect(JSON.stringify(rows)).not.toContain('hunter3');
  });

  test('is refused with 400 if it contains a fault, a node key or an unknown key, and nothing changes', async () => {
    const file = await backUp();
    for (const [key, value] of [
      ['blocking.mode', 'sometimes'],
      ['server.web_port', 1],
      ['blocking.unknown', 1],
    ] as const) {
      const answer = await send({ ...file, configuration: { ...file.configuration, [key]: value } });
      expect([answer.status, answer.problem.errors?.[0]?.path]).toEqual([400, `configuration.${key}`]);
    }
    expect(content(await backUp())).toEqual(content(file));
  });

  test('of version 1 has only four keys, and a restore keeps all other keys', async () => {
    const { configuration, node_configuration: _node, ...others } = await backUp();
    const settings = { never_forward_non_fqdn: true, local_domain: 'old.test', local_dns_server: null };
    await restore({ ...others, version: 1, dns_settings: settings });
    expect((await backUp()).configuration).toEqual({
      ...configuration,
      'dns.local_domain': 'old.test',
      'dns.local_dns_server': undefined,
      'dns.never_forward_non_fqdn': true,
    });
  });
});

describe('sealSecrets()', () => {
  test('returns different data each time, which opens with any Unicode form of the passphrase', async () => {
    const [one, two] = [
      await sealSecrets([1], 'ä-passphrase', 'c'),
      await sealSecrets([1], 'ä-passphrase', 'c'),
    ];
    expect(one.data).not.toBe(two.data);
    expect(await openSecrets(one, 'a\u0308-passphrase', 'c')).toEqual([1]);
    await expect(openSecrets(one, 'ä-passphrase', 'd')).rejects.toThrow('wrong passphrase');
  });
});
