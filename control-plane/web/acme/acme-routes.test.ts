import { describe, expect, test } from '@jest/globals';
import { AcmeStatus } from '../../../shared/api/tls-api.ts';
import { asOwner } from '../../../test/support/parts/as-owner.ts';
import { serveSuite } from '../../../test/support/parts/served-suite.ts';
import type { RunningApi } from '../../../test/support/parts/running-api.ts';
import { acmeRoutes } from './acme-routes.ts';
import type { AcmeState } from './acme-certificate.ts';

const IDLE: AcmeState = { step: null, fault: null, endedMs: null, failures: 0, nextMs: null };

let api: RunningApi;
let state: AcmeState;
let begun: number;

const restart = serveSuite(
  (parts) => {
    [state, begun] = [IDLE, 0];
    const begin = (): boolean => {
      if (state.step !== null) return false;
      state = { ...state, step: 'account' };
      begun++;
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

/** Makes the first COMMIT with an audit entry a serialization failure; returns a function that undoes this. */
async function failFirstCommit(): Promise<() => Promise<unknown>> {
  const { database } = api.parts;
  await asOwner(
    database,
    `CREATE SEQUENCE commits;
    CREATE FUNCTION fail_first() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN
      IF nextval('commits') = 1 THEN RAISE EXCEPTION 'conflict' USING ERRCODE = 'serialization_failure'; END IF;
      RETURN NULL;
    END $$;
    CREATE CONSTRAINT TRIGGER fail_first AFTER INSERT ON audit_log
      DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION fail_first()`,
  );
  return () => asOwner(database, 'DROP FUNCTION fail_first CASCADE; DROP SEQUENCE commits');
}

describe('POST /tls/acme', () => {
  test('starts an order; a second concurrent request gets 409 and has no entry in the audit log', async () => {
    const answers = await Promise.all([1, 2].map(() => api.send('POST', '/api/tls/acme')));
    expect(answers.map(({ status }) => status).sort()).toEqual([202, 409]);
    expect(await audited()).toBe(1);
    const { body } = await api.send('GET', '/api/tls/acme');
    expect(AcmeStatus.parse(body)).toMatchObject({ names: ['weir.example.org'], step: 'account' });
  });

  test('starts one order and adds one audit entry even if its transaction is repeated after a serialization failure', async () => {
    const undo = await failFirstCommit();
    try {
      expect((await api.send('POST', '/api/tls/acme')).status).toBe(202);
      const { rows } = await asOwner<{ n: string }>(
        api.parts.database,
        'SELECT last_value::text AS n FROM commits',
      );
      expect([rows[0]!.n, begun, await audited()]).toEqual(['2', 1, 1]);
    } finally {
      await undo();
    }
  });

  test('is 409 if no names are configured', async () => {
    await restart({ toml: 'auth.enabled = false' });
    const answer = await api.send('POST', '/api/tls/acme');
    expect([answer.status, answer.problem.detail]).toEqual([409, 'set server.acme.names first']);
  });
});

test('GET /tls/acme shows why the last order failed, and when the next order starts', async () => {
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
