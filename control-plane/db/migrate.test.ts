import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { MemoryLogger } from '../../test/support/parts/memory-logger.ts';
import { startTestDatabase } from '../../test/support/parts/test-database.ts';
import type { TestDatabase } from '../../test/support/parts/test-database.ts';
import { migrate, SchemaTooNew } from './migrate.ts';

let own: TestDatabase;
beforeAll(async () => {
  own = await startTestDatabase();
});
afterAll(() => own.stop());

async function tables(): Promise<string[]> {
  const { rows } = await own.database.query<{ name: string }>(
    `SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' ORDER BY 1`,
  );
  return rows.map(({ name }) => name);
}

describe('migrate()', () => {
  test('migrate() leaves nothing to do for a second node', async () => {
    const again = await own.database.withClient((client) => migrate(client, new MemoryLogger()));
    expect(again).toEqual([]);
  });

  test('migrate() goes all the way down and up again to the same schema, with the group Default', async () => {
    const before = await tables();
    const logger = new MemoryLogger();
    const down = await own.database.withClient((client) => migrate(client, logger, { direction: 'down' }));
    expect(await tables()).toEqual(['schema_migrations']);
    const up = await own.database.withClient((client) => migrate(client, logger, { direction: 'up' }));
    expect(up).toEqual([...down].reverse());
    expect(await tables()).toEqual(before);
    const { rows } = await own.database.query('SELECT id, name FROM groups');
    expect(rows).toEqual([{ id: 1, name: 'Default' }]);
  });

  test('migrate() refuses a schema that is newer than the program, and changes nothing', async () => {
    const add = `INSERT INTO schema_migrations (name, run_on) VALUES ('9999_from-the-future', now())`;
    await own.database.query(add);
    const before = await tables();
    const run = own.database.withClient((client) => migrate(client, new MemoryLogger()));
    await expect(run).rejects.toBeInstanceOf(SchemaTooNew);
    await expect(run).rejects.toThrow(/newer than this weir, which does not know 9999_from-the-future/);
    expect(await tables()).toEqual(before);
    await own.database.query(`DELETE FROM schema_migrations WHERE name = '9999_from-the-future'`);
  });

  test('migrate() by several nodes at once runs each migration once', async () => {
    const logger = new MemoryLogger();
    await own.database.withClient((client) => migrate(client, logger, { direction: 'down' }));
    const runs = await Promise.all(
      [1, 2, 3].map(() => own.database.withClient((client) => migrate(client, logger))),
    );
    expect(runs.filter((names) => names.length > 0)).toHaveLength(1);
  });
});
