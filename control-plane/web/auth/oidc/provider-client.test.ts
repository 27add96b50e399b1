/** Refused responses of a real OpenID provider, and what browsers then show, over HTTP. */
import { describe, expect, test } from '@jest/globals';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { OidcSuite, ROLES } from '../../../../test/support/parts/oidc-suite.ts';
import { type Falsify, OpenIdProvider, TestBrowser } from '../../../../test/support/parts/openid-provider.ts';
import { PASSWORD } from '../../../../test/support/parts/running-api.ts';
import { within } from '../../../../test/support/parts/until.ts';

const suite = new OidcSuite();

describe('a response of the OpenID Connect provider is rejected', () => {
  test.each<[string, Falsify]>([
    ['with another nonce', (claims) => ({ ...claims, nonce: 'another' })],
    ['without a nonce', ({ nonce: _nonce, ...claims }) => claims],
    ['for another client', (claims) => ({ ...claims, aud: 'another' })],
    ['of another issuer', (claims) => ({ ...claims, iss: 'https://evil.example' })],
    ['that has expired', (claims) => ({ ...claims, exp: 1_000_000_000, iat: 999_999_000 })],
    ['without a person', ({ sub: _sub, ...claims }) => claims],
    ['whose subject differs from that of the user info', (claims) => ({ ...claims, sub: 'person-9' })],
  ])('%s', async (_what, falsify) => {
    suite.provider.falsify = falsify;
    const { status, text, secret } = await suite.logIn();
    expect([status, secret]).toEqual([401, undefined]);
    expect(text).toContain('The response of the OpenID provider is not valid');
    expect(await suite.users()).toEqual(['admin: admin']);
  });

  test('with a wrong state, without state, and with foreign parameters', async () => {
    for (const change of [
      (url: URL) => url.searchParams.set('state', 'another'),
      (url: URL) => url.searchParams.delete('state'),
      (url: URL) => url.searchParams.delete('code'),
      (url: URL) => (url.search = ''),
      (url: URL) => url.searchParams.set('iss', 'https://evil.example'),
    ]) {
      const browser = new TestBrowser();
      const url = await suite.answerFor(browser);
      change(url);
      const { status, secret } = await suite.outcome(browser, await browser.get(url.href));
      expect([status, secret]).toEqual([401, undefined]);
    }
  });

  test('in a browser that did not start the login, when sent twice, and after ten minutes', async () => {
    const browser = new TestBrowser();
    const { href } = await suite.answerFor(browser);
    const stolen = new TestBrowser();
    expect(await suite.outcome(stolen, await stolen.get(href))).toMatchObject({
      status: 401,
      secret: undefined,
    });
    expect((await suite.outcome(browser, await browser.get(href))).status).toBe(200);
    const again = await suite.outcome(browser, await browser.get(href));
    expect([again.status, again.text]).toEqual([401, expect.stringContaining('has not started a login')]);
    // The code itself is also used up: another browser that has begun a login cannot use it.
    const other = new TestBrowser();
    const own = await suite.answerFor(other);
    own.searchParams.set('code', new URL(href).searchParams.get('code')!);
    expect((await suite.outcome(other, await other.get(own.href))).status).toBe(401);
    const late = new TestBrowser();
    const url = await suite.answerFor(late);
    suite.node.api.clock.advanceSecs(601);
    expect((await suite.outcome(late, await late.get(url.href))).status).toBe(401);
  });

  test('if it reports an error', async () => {
    suite.provider.person = null;
    const { status, text } = await suite.logIn();
    expect([status, text]).toEqual([403, expect.stringContaining('refused the login')]);
  });
});

describe('/login/oidc', () => {
  test.each([
    'https://evil.example',
    '//evil.example',
    '/\\evil.example',
    '/\\/evil.example',
    '/%09/evil.example\t',
    'javascript:alert(1)',
    'docs',
    '',
  ])('ignores the foreign redirect target %j', async (place) => {
    const response = await new TestBrowser().get(
      `${suite.weir}/login/oidc?return_to=${encodeURIComponent(place)}`,
    );
    expect([response.status, response.headers.get('location')]).toEqual([400, null]);
  });

  test('does not redirect to another site because of a forged cookie', async () => {
    const attempt = {
      state: 'x'.repeat(43),
      nonce: 'x'.repeat(43),
      verifier: 'x'.repeat(43),
      rememberMe: false,
    };
    const made = { ...attempt, returnTo: '//evil.example', startedMs: suite.node.api.clock.nowMs() };
    for (const value of [JSON.stringify(made), JSON.stringify({ ...made, returnTo: '/' }), 'null', '{']) {
      const cookie = `weir_login=${Buffer.from(value).toString('base64url')}`;
      const answer = await suite.node.api.send('GET', '/login/oidc/callback?code=a&state=b', {
        headers: { cookie },
      });
      expect([answer.status, answer.headers['set-cookie']]).toEqual([
        401,
        [expect.stringContaining('weir_login=;')],
      ]);
    }
  });

  test('binds a login to the browser with a short-lived cookie that scripts cannot read', async () => {
    const response = await new TestBrowser().get(`${suite.weir}/login/oidc`);
    const [cookie = ''] = response.headers.getSetCookie();
    expect(cookie.split('; ').slice(1).sort()).toEqual([
      expect.stringMatching(/^Expires=/),
      'HttpOnly',
      'Max-Age=600',
      'Path=/login/oidc',
      'SameSite=Lax',
    ]);
    const target = new URL(response.headers.get('location')!);
    expect(Object.fromEntries(target.searchParams)).toMatchObject({
      client_id: 'weir',
      code_challenge_method: 'S256',
      redirect_uri: `${suite.weir}/login/oidc/callback`,
      scope: 'openid profile email',
    });
    expect(JSON.stringify(suite.node.api.logger.lines)).not.toContain('a secret of weir');
  });

  test('rejects a cookie made for a different address, or settable by another host of the site', async () => {
    await suite.serve(ROLES, { others: 'server.trusted_proxies = ["127.0.0.0/8"]' });
    const ask = (path: string, headers: Record<string, string>) =>
      suite.node.api.send('GET', path, { headers });
    const cookieFor = async (headers: Record<string, string>): Promise<string> => {
      const answer = await ask('/login/oidc', headers);
      return String(answer.headers['set-cookie']);
    };
    const outcome = async (cookie: string, headers: Record<string, string>): Promise<boolean> => {
      const answer = await ask('/login/oidc/callback?code=a&state=b', { ...headers, cookie });
      expect(answer.status).toBe(401);
      return !answer.text.includes('has not started a login');
    };
    const here = { 'x-forwarded-for': '192.0.2.7' };
    const plain = (await cookieFor(here)).split(';')[0]!;
    expect(await outcome(plain, here)).toBe(true);
    expect(await outcome(plain, { 'x-forwarded-for': '192.0.2.8' })).toBe(false);
    expect(await outcome(plain.replace('=', '=A'), here)).toBe(false);
    // The same length in characters, but more bytes.
    expect(await outcome(`${plain.slice(0, -1)}%C3%A9`, here)).toBe(false);

    const secured = { ...here, 'x-forwarded-proto': 'https' };
    const cookie = await cookieFor(secured);
    expect(cookie).toMatch(/^__Host-weir_login=[^;]+;.* Path=\/;.* Secure/);
    const value = cookie.split(';')[0]!;
    expect(await outcome(value, { ...secured, 'x-forwarded-for': '2001:db8::7' })).toBe(true);
    expect(await outcome(value.replace('__Host-', ''), secured)).toBe(false);
    expect(await outcome(plain, secured)).toBe(false);
  });

  test('accepts a response once: a repeated request opens no session and does not contact the provider', async () => {
    const browser = new TestBrowser();
    const answer = await suite.answerFor(browser);
    const headers = { cookie: `weir_login=${browser.cookie(suite.weir, 'weir_login')!}` };
    const ask = () => suite.node.api.send('GET', `${answer.pathname}${answer.search}`, { headers });
    expect((await ask()).status).toBe(200);
    await suite.provider.close();
    const again = await ask();
    suite.provider = await OpenIdProvider.start();
    expect([again.status, again.text]).toEqual([401, expect.stringContaining('is already finished')]);
    expect(await suite.node.sessionsOf(suite.session)).toHaveLength(2);
  });

  test('reports an unreachable provider, while logins with passwords still work', async () => {
    await suite.serve(ROLES, { issuer: 'http://127.0.0.1:9' });
    const { status, text } = await suite.logIn();
    expect([status, text]).toEqual([503, expect.stringContaining('provider cannot be reached')]);
    expect((await suite.node.logIn(PASSWORD)).status).toBe(200);
    expect((await suite.node.api.send('GET', '/api/health')).status).toBe(200);
  });

  test('reports a provider that never answers, while logins with passwords still work', async () => {
    const sockets = new Set<Socket>();
    const silent = createServer((socket) => sockets.add(socket)).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    await suite.serve(ROLES, {
      issuer: `http://127.0.0.1:${String((silent.address() as AddressInfo).port)}`,
    });
    const login = suite.logIn();
    await within('the question to the silent provider', once(silent, 'connection'));
    expect((await suite.node.logIn(PASSWORD)).status).toBe(200);
    expect(await login).toMatchObject({ status: 503, secret: undefined });
    for (const socket of sockets) socket.destroy();
    silent.close();
  });

  test('reads the client secret from its file at each login, and does not reveal the secret', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'weir-oidc-'));
    const file = join(folder, 'secret');
    await suite.serve(ROLES, { secret: `client_secret_file = "${file}"` });
    expect((await suite.logIn()).status).toBe(503);
    await writeFile(file, 'wrong-secret\n');
    const { status, text } = await suite.logIn();
    expect([status, text]).toEqual([401, expect.not.stringContaining('wrong-secret')]);
    await writeFile(file, 'a secret of weir\n');
    expect((await suite.logIn()).status).toBe(200);
    await rm(folder, { recursive: true });
    await suite.serve(ROLES);
    const { text: config } = await suite.node.api.send('GET', '/api/config', { session: suite.session });
    const { text: backup } = await suite.node.api.send('GET', '/api/backup', { session: suite.session });
    const reported = [config, backup, JSON.stringify(suite.node.api.logger.lines)].join('');
    expect(reported).not.toMatch(/wrong-secret|a secret of weir/);
  });

  test('is 404 if OpenID Connect or authentication is disabled, and 401 before setup', async () => {
    await suite.node.restart('');
    expect((await suite.node.api.send('GET', '/login/oidc')).status).toBe(404);
    await suite.serve(ROLES, { others: 'auth.enabled = false' });
    expect((await suite.node.api.send('GET', '/login/oidc')).status).toBe(404);
    await suite.node.suite.database.query('DELETE FROM admin_credential');
    await suite.serve(ROLES);
    expect((await suite.node.api.send('GET', '/login/oidc')).status).toBe(401);
  });
});
