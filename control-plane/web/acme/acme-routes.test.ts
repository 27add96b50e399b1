import { describe, expect, test } from '@jest/globals';
import { AcmeStatus } from '../../../shared/api/tls-api.ts';
import { serveSuite } from '../../../test/support/parts/served-suite.ts';
import type { RunningApi } from '../../../test/support/parts/running-api.ts';
import { acmeRoutes } from './acme-routes.ts';
import type { AcmeState } from './acme-certificate.ts';

const IDLE: AcmeState = { step: null, fault: null, endedMs: null, failures: 0, nextMs: null };

let api: RunningApi;
let state: AcmeState;

const restart = serveSuite(
  (parts) => {
    state = IDLE;
    const begin = (): boolean => {
      if (state.step !== null) return false;
      state = { ...state, step: 'account' };
      return true;
    };
    return acmeRoutes({ ...parts, acme: { state: () => state, begin } });
  },
  (served) => ({ api } = served),
  { perTest: true, toml: 'auth.enabled = false\nserver.acme.names = ["weir.example.org"]' },
);

const audited = async (): Promise<number> => {
  const { rows } = await api.parts.database.query<{ n: number }>(
    'SELECT count(*)::integer AS n FROM audit_log',
  );
  return rows[0]!.n;
};

describe('POST /tls/acme', () => {
  test('begins an order; a second one at once is 409 and leaves no entry in the audit log', async () => {
    const answers = await Promise.all([1, 2].map(() => api.send('POST', '/api/tls/acme')));
    expect(answers.map(({ status }) => status).sort()).toEqual([202, 409]);
    expect(await audited()).toBe(1);
    const { body } = await api.send('GET', '/api/tls/acme');
    expect(AcmeStatus.parse(body)).toMatchObject({ names: ['weir.example.org'], step: 'account' });
  });

  test('is 409 without names', async () => {
    await restart({ toml: 'auth.enabled = false' });
    const answer = await api.send('POST', '/api/tls/acme');
    expect([answer.status, answer.problem.detail]).toEqual([409, 'set server.acme.names first']);
  });
});

test('GET /tls/acme shows why the last order failed, and when the next one begins', async () => {
  state = {
    ...IDLE,
    fault: 'no route',
    endedMs: Date.UTC(2026, 0, 1),
    failures: 1,
    nextMs: Date.UTC(2026, 0, 2),
  };
  expect((await api.send('GET', '/api/tls/acme')).body).toMatchObject({
    ...{ step: null, error: 'no route' },
    ...{ ended_at: '2026-01-01T00:00:00.000Z', next_order_at: '2026-01-02T00:00:00.000Z' },
  });
});
