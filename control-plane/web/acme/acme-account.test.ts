/** Accounts at servers with odd responses; acme-certificate.test.ts tests accounts at Pebble. */
import { describe, expect, test } from '@jest/globals';
import { generateKeyPairSync } from 'node:crypto';
import { AcmeAccount, problemText } from './acme-account.ts';
import { acmeSender } from './acme-http.ts';
import type { AcmeRequest, AcmeResponse } from './acme-http.ts';

const { privateKey: key } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const DIRECTORY = {
  newNonce: 'https://ca.test/nonce',
  newAccount: 'https://ca.test/new',
  newOrder: 'https://ca.test/order',
};
const NONCE = { 'replay-nonce': 'nonce-1' };
const PROBLEM = 'urn:ietf:params:acme:error:';

/** Opens an account at a server that returns these responses, by path. */
function open(answers: Readonly<Record<string, Partial<AcmeResponse>>>, sent: AcmeRequest[] = []) {
  const send = async (request: AcmeRequest): Promise<AcmeResponse> => {
    sent.push(request);
    return { status: 200, headers: NONCE, text: '', ...answers[new URL(request.url).pathname] };
  };
  const { signal } = new AbortController();
  return AcmeAccount.open({ directoryUrl: 'https://ca.test/dir', key, send, signal }, 'a@example.org', true);
}

const json = (value: unknown): { text: string } => ({ text: JSON.stringify(value) });
const made = { status: 201, headers: { ...NONCE, location: 'https://ca.test/account/1' } };

describe('AcmeAccount.open(), which registers an ACME account,', () => {
  test('signs the first request with the key, and later requests with the URL of the account', async () => {
    const sent: AcmeRequest[] = [];
    const account = await open({ '/dir': json(DIRECTORY), '/new': { ...made, text: '{}' } }, sent);
    await account.read('https://ca.test/thing');
    const [first, second] = sent
      .filter(({ method }) => method === 'POST')
      .map(({ body }) => JSON.parse(body!) as { protected: string; payload: string; signature: string })
      .map((jws) => ({
        ...(JSON.parse(Buffer.from(jws.protected, 'base64url').toString()) as object),
        payload: Buffer.from(jws.payload, 'base64url').toString(),
      }));
    expect(first).toMatchObject({
      alg: 'ES256',
      url: 'https://ca.test/new',
      jwk: { kty: 'EC', crv: 'P-256' },
    });
    expect(first).not.toHaveProperty('jwk.d');
    expect(first!.payload).toBe('{"contact":["mailto:a@example.org"]}');
    expect(second).toMatchObject({
      kid: 'https://ca.test/account/1',
      url: 'https://ca.test/thing',
      payload: '',
    });
  });

  test.each([
    ['a page instead of a directory', { '/dir': { text: '<html>' } }, /not JSON/],
    ['a directory without URLs', { '/dir': json({ newNonce: 1 }) }, /not the directory of an ACME server/],
    [
      'a server that needs an external account',
      { '/dir': json({ ...DIRECTORY, meta: { externalAccountRequired: true } }) },
      /external account/,
    ],
    ['a server without nonces', { '/dir': json(DIRECTORY), '/nonce': { headers: {} } }, /no nonce/],
    ['an account without a URL', { '/dir': json(DIRECTORY), '/new': json({}) }, /no URL for the account/],
    ['a status without a problem', { '/dir': { status: 502, text: '<html>' } }, /status 502/],
  ])('fails with a message about %s', async (_what, answers, expected) => {
    await expect(open(answers)).rejects.toThrow(expected);
  });

  test('fails if every nonce is rejected', async () => {
    const sent: AcmeRequest[] = [];
    const refused = { status: 400, ...json({ type: `${PROBLEM}badNonce`, detail: 'old nonce' }) };
    await expect(open({ '/dir': json(DIRECTORY), '/new': refused }, sent)).rejects.toThrow('old nonce');
    expect(sent.filter(({ method }) => method === 'POST')).toHaveLength(20);
  });

  test('does not repeat a request that is refused for a reason other than an invalid nonce', async () => {
    const sent: AcmeRequest[] = [];
    const refused = { status: 429, ...json({ type: `${PROBLEM}rateLimited`, detail: 'too many orders' }) };
    await expect(open({ '/dir': json(DIRECTORY), '/new': refused }, sent)).rejects.toThrow('too many orders');
    expect(sent.filter(({ method }) => method === 'POST')).toHaveLength(1);
  });
});

test('problemText() joins the parts of a problem document, without control characters and up to a maximum length', () => {
  const subproblems = [{ detail: 'first' }, { detail: 'second\u001b[31m' }, {}];
  expect(problemText({ detail: 'whole', subproblems })).toBe('whole; first; second [31m');
  expect(problemText({ detail: 'x'.repeat(10_000) })).toHaveLength(500);
  expect([null, 7, {}, { detail: 7 }].map(problemText)).toEqual([null, null, null, null]);
});

test('acmeSender() rejects URLs without TLS', async () => {
  const { signal } = new AbortController();
  const send = acmeSender('weir/test', null);
  for (const url of ['http://ca.test/dir', 'file:///etc/passwd', 'x'])
    await expect(send({ method: 'GET', url }, signal)).rejects.toThrow('is not an https:// URL');
});
