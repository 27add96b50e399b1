/** Orders at servers with odd responses; acme-certificate.test.ts tests orders at Pebble. */
import { describe, expect, test } from '@jest/globals';
import type { AcmeAccount } from './acme-account.ts';
import { orderCertificate } from './acme-order.ts';
import type { Proof } from './acme-order.ts';

const ORDER = 'https://ca.test/order/1';
const PROOF = 'https://ca.test/proof/1';
const CHALLENGE = { type: 'http-01', url: 'https://ca.test/challenge/1', token: 'token-1' };
const PENDING = { status: 'pending', identifier: { value: 'a.example.org' }, challenges: [CHALLENGE] };
const READY = { status: 'ready', finalize: 'https://ca.test/finalize/1' };

/** Runs an order whose resources go through these states; the last state is repeated. */
async function run(states: Readonly<Record<string, readonly object[]>>) {
  const [put, posted, left]: [Proof[], string[], Record<string, object[]>] = [[], [], {}];
  for (const [url, list] of Object.entries(states)) left[url] = [...list];
  let removals = 0;
  const answer = (body: object, location: string | null = null) => ({
    body: body as Record<string, unknown>,
    text: 'the chain',
    location,
  });
  const account = {
    newOrder: async () => answer({ authorizations: [PROOF] }, ORDER),
    read: async (url: string) => {
      const list = left[url] ?? [{}];
      return answer(list.length > 1 ? list.shift()! : list[0]!);
    },
    post: async (url: string) => {
      posted.push(url);
      return answer({});
    },
    keyAuthorization: async (token: string) => `${token}.thumbprint`,
  } as unknown as AcmeAccount;
  const chain = orderCertificate({
    ...{ account, names: ['a.example.org'], request: Buffer.of(1), pollMs: 1 },
    responder: {
      type: 'http-01',
      put: async (proofs) => void put.push(...proofs),
      remove: async () => {
        removals++;
      },
    },
    signal: new AbortController().signal,
    onStep: () => undefined,
  });
  const [outcome] = await Promise.allSettled([chain]);
  const failed = outcome.status === 'rejected' ? String(outcome.reason) : null;
  return { chain: outcome.status === 'fulfilled' ? outcome.value : failed, put, posted, removals };
}

describe('orderCertificate(), which orders an ACME certificate,', () => {
  test('waits for the ACME server, and reads the certificate chain', async () => {
    const done = { ...READY, status: 'valid', certificate: 'https://ca.test/chain' };
    const result = await run({
      [PROOF]: [PENDING, { ...PENDING }, { ...PENDING, status: 'valid' }],
      [ORDER]: [{ status: 'pending' }, READY, { status: 'processing' }, done],
    });
    expect(result.chain).toBe('the chain');
    expect(result.put).toMatchObject([{ name: 'a.example.org', keyAuthorization: 'token-1.thumbprint' }]);
    expect(result.posted).toEqual([CHALLENGE.url, READY.finalize]);
    expect(result.removals).toBe(1);
  });

  test('does not repeat an authorization that is still valid', async () => {
    const done = { ...READY, status: 'valid', certificate: 'https://ca.test/chain' };
    const result = await run({ [PROOF]: [{ ...PENDING, status: 'valid' }], [ORDER]: [done] });
    expect(result).toMatchObject({ chain: 'the chain', put: [], posted: [] });
  });

  test.each([
    ['no challenge of the kind', { [PROOF]: [{ ...PENDING, challenges: [] }] }, 'does not offer http-01'],
    [
      'a token that is a path',
      { [PROOF]: [{ ...PENDING, challenges: [{ ...CHALLENGE, token: '../x' }] }] },
      'does not offer http-01',
    ],
    [
      'a failed proof',
      {
        [PROOF]: [
          PENDING,
          { ...PENDING, status: 'invalid', challenges: [{ error: { detail: 'no route' } }] },
        ],
      },
      'a.example.org: the server reports: no route',
    ],
    [
      'a refused order',
      {
        [PROOF]: [{ ...PENDING, status: 'valid' }],
        [ORDER]: [{ status: 'invalid', error: { detail: 'CAA forbids' } }],
      },
      'CAA forbids',
    ],
    [
      'an order without URLs',
      { [PROOF]: [{ ...PENDING, status: 'valid' }], [ORDER]: [{ status: 'ready' }] },
      'no finalize URL',
    ],
  ])('fails for %s, and removes its challenge responses', async (_what, states, expected) => {
    const result = await run(states);
    expect(result.chain).toContain(expected);
    if (result.put.length > 0) expect(result.removals).toBe(1);
  });
});
