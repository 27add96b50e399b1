/** Clients that may set the first password of a fresh installation. */
import { describe, expect, test } from '@jest/globals';
import { chmod, readFile, stat, writeFile } from 'node:fs/promises';
import { networkInterfaces } from 'node:os';
import { SetupCode } from '../../../control-plane/web/auth/setup-code.ts';
import { everyRoute } from '../../support/parts/every-route.ts';
import { PASSWORD, type RunningApi } from '../../support/parts/running-api.ts';
import type { TestAnswer, TestRequest } from '../../support/parts/running-api.ts';
import { serveSuite } from '../../support/parts/served-suite.ts';

let api: RunningApi;

const restart = serveSuite(everyRoute(), (served) => ({ api } = served), { toml: '', perTest: true });

function setUp(options: TestRequest = {}, more: object = {}): Promise<TestAnswer> {
  return api.send('POST', '/api/auth/setup', { json: { password: PASSWORD, ...more }, ...options });
}

async function expectRefusedWithoutCode(options: TestRequest): Promise<void> {
  for (const more of [{}, { setup_code: '' }, { setup_code: 'aaaa-aaaa-aaaa-aaaa' }]) {
    const answer = await setUp(options, more);
    expect([answer.status, answer.problem.error]).toEqual([403, 'setup_code_required']);
  }
  expect((await api.send('GET', '/api/auth/status')).body).toMatchObject({ password_configured: false });
}

describe('setup', () => {
  test('from the loopback address needs only the password', async () => {
    expect((await setUp()).status).toBe(204);
  });

  test('shows other clients where the setup code is stored, as long as it is needed', async () => {
    const fileFor = async (headers: Record<string, string>): Promise<unknown> =>
      ((await api.send('GET', '/api/auth/status', { headers })).body as { setup_code_file: unknown })
        .setup_code_file;
    const remote = { 'x-forwarded-for': '192.0.2.9' };
    expect(await fileFor({})).toBeNull();
    expect(await fileFor(remote)).toBe(api.setupCode.path);
    expect((await setUp()).status).toBe(204);
    expect(await fileFor(remote)).toBeNull();
  });

  const elsewhere = Object.values(networkInterfaces())
    .flat()
    .find((one) => one !== undefined && !one.internal && one.family === 'IPv4')?.address;

  if (elsewhere !== undefined)
    test('from another address needs the setup code, which is deleted after use', async () => {
      await restart({ toml: `server.bind_address = ["${elsewhere}"]` });
      const fromThere = { host: elsewhere };
      for (const more of [{}, { setup_code: 'wrong' }]) {
        const answer = await setUp(fromThere, more);
        expect([answer.status, answer.problem.error]).toEqual([403, 'setup_code_required']);
      }
      const code = (await readFile(api.setupCode.path, 'utf8')).trim();
      expect((await setUp(fromThere, { setup_code: code.toUpperCase().replaceAll('-', '') })).status).toBe(
        204,
      );
      await expect(readFile(api.setupCode.path)).rejects.toThrow('ENOENT');
      const again = await setUp(fromThere, { setup_code: code });
      expect([again.status, again.problem.error]).toEqual([403, 'forbidden']);
      await expect(readFile(api.setupCode.path)).rejects.toThrow('ENOENT');
    });

  test.each([
    { 'x-forwarded-for': '203.0.113.9' },
    { 'x-forwarded-for': '127.0.0.1' },
    { forwarded: 'for=127.0.0.1' },
    { 'x-real-ip': '127.0.0.1' },
    { via: '1.1 proxy' },
  ] as Record<string, string>[])(
    'through an unknown proxy on this machine needs the setup code: %j',
    async (headers) => {
      await expectRefusedWithoutCode({ headers });
    },
  );

  test.each([{}, { 'x-forwarded-for': '203.0.113.9' }, { 'x-forwarded-for': '127.0.0.1' }] as Record<
    string,
    string
  >[])(
    'through a trusted proxy on this machine needs the setup code, for any header fields: %j',
    async (headers) => {
      await restart({ toml: 'server.trusted_proxies = ["127.0.0.1/32"]' });
      await expectRefusedWithoutCode({ headers });
      expect((await setUp({ headers }, { setup_code: await api.setupCode.value() })).status).toBe(204);
    },
  );

  test('never logs the expected or a received setup code', async () => {
    const code = await api.setupCode.value();
    const headers = { via: '1.1 proxy' };
    await setUp({ headers }, { setup_code: 'some-wrong-code-here' });
    await setUp({ headers }, { setup_code: code });
    const logged = JSON.stringify(api.logger.lines);
    expect(logged).not.toContain(code);
    expect(logged).not.toContain('some-wrong-code-here');
  });
});

describe('the setup code', () => {
  test('survives a restart, and only its user may read it', async () => {
    const code = await api.setupCode.value();
    expect(code).toMatch(/^[0-9a-z]{4}(-[0-9a-z]{4}){3}$/);
    expect((await stat(api.setupCode.path)).mode & 0o777).toBe(0o600);
    expect(await new SetupCode(dirOf(api), api.logger).value()).toBe(code);
  });

  test('is replaced if the file was damaged', async () => {
    await writeFile(api.setupCode.path, '\n');
    const code = await api.setupCode.value();
    expect(code).not.toBe('');
    expect(await readFile(api.setupCode.path, 'utf8')).toBe(`${code}\n`);
  });

  test('is replaced if other users may read the file', async () => {
    const code = await api.setupCode.value();
    await chmod(api.setupCode.path, 0o644);
    await new SetupCode(dirOf(api), api.logger).value();
    expect((await stat(api.setupCode.path)).mode & 0o777).toBe(0o600);
    expect(await readFile(api.setupCode.path, 'utf8')).not.toContain(code);
  });

  test('exists until a password is set, and is then deleted from disk', async () => {
    expect(await api.parts.auth.pendingSetupCode()).toBe(await api.setupCode.value());
    await setUp();
    await writeFile(api.setupCode.path, 'left behind');
    expect(await api.parts.auth.pendingSetupCode()).toBeNull();
    await expect(readFile(api.setupCode.path)).rejects.toThrow('ENOENT');
  });
});

function dirOf({ setupCode }: RunningApi): string {
  return setupCode.path.replace(/\/[^/]*$/, '');
}
