import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { codedAction, codedSubject } from '../../../shared/policy/changes/change-codes.ts';
import { asOwner } from '../../../test/support/parts/as-owner.ts';
import { startTestDatabase } from '../../../test/support/parts/test-database.ts';
import type { TestDatabase } from '../../../test/support/parts/test-database.ts';
import { recordAudit } from './audit-store.ts';
import type { AuditEntry } from './audit-store.ts';

let own: TestDatabase;
beforeAll(async () => {
  own = await startTestDatabase();
});
beforeEach(async () => {
  await asOwner(own.database, 'TRUNCATE audit_log');
});
afterAll(() => own.stop());

const ENTRY: AuditEntry = {
  actor: { name: 'admin', address: '192.0.2.7' },
  action: codedAction('created'),
  subject: codedSubject('group', { name: 'a' }),
};

async function recorded(entry: Partial<AuditEntry>): Promise<Record<string, unknown>> {
  await own.database.transaction((tx) => recordAudit(tx, { ...ENTRY, ...entry }));
  const { rows } = await own.database.query<Record<string, unknown>>(
    'SELECT * FROM audit_log ORDER BY id DESC LIMIT 1',
  );
  return rows[0]!;
}

describe('recordAudit()', () => {
  test('stores the author, the address, the action, and the state before and after', async () => {
    expect(await recorded({ before: { a: 1 }, after: [2], revision: 5, leftOut: 3 })).toMatchObject({
      actor: 'admin',
      address: '192.0.2.7',
      action: 'created',
      subject: 'group a',
      codes: { subject: ENTRY.subject, action: ENTRY.action },
      before: { a: 1 },
      after: [2],
      revision: 5,
      left_out: 3,
    });
    expect(await recorded({ actor: { name: 'system', address: null } })).toMatchObject({
      address: null,
      before: null,
      after: null,
      revision: null,
      left_out: 0,
    });
  });

  test('stores no secrets', async () => {
    const after = {
      url: 'https://me:hunter2@l.example/',
      password_hash: 'hunter2',
      list: [{ token: 'hunter2' }],
    };
    expect(JSON.stringify(await recorded({ after }))).not.toContain('hunter2');
  });

  test('replaces characters that PostgreSQL cannot store, and shortens values that are too long', async () => {
    const after = { a: 'x\0y', b: '\\u0000', c: '\\\0' };
    const subject = codedSubject('group', { name: `a\0${'b'.repeat(600)}` });
    expect(await recorded({ subject, after })).toMatchObject({
      subject: `group a\ufffd${'b'.repeat(491)}…`,
      codes: { subject: { code: 'group', params: { name: `a\ufffd${'b'.repeat(497)}…` } } },
      after: { a: 'x\ufffdy', b: '\\u0000', c: '\\\ufffd' },
    });
  });

  test('stores nothing if the change is rolled back', async () => {
    const failing = own.database.transaction(async (tx) => {
      await recordAudit(tx, ENTRY);
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
    expect((await own.database.query('SELECT FROM audit_log')).rows).toEqual([]);
  });
});
