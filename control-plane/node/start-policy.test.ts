import { expect, test } from '@jest/globals';
import { codedAction, codedSubject } from '../../shared/policy/changes/change-codes.ts';
import { UdpClient } from '../../test/support/dns/dns-client.ts';
import { startTestDatabase } from '../../test/support/parts/test-database.ts';
import { testNode } from '../../test/support/parts/test-node.ts';
import { freePort } from '../../test/support/weir/free-ports.ts';
import { startDns } from './start-dns.ts';
import { startHousekeeping, startPolicy } from './start-policy.ts';
import { stopInReverse } from './stopping.ts';

test('startPolicy() applies changes of the database, and stops everything that it started', async () => {
  const own = await startTestDatabase();
  // Prevents the first start from adding a list on the internet.
  await own.database.query(`INSERT INTO meta (key, value) VALUES ('first_source_seeded', 'true')`);
  const port = await freePort(['127.0.0.1']);
  const node = testNode(own.database, own.dataDir, '', port);
  const dns = await startDns(node);
  await dns.startThreads();
  const context = await startPolicy(dns);
  startHousekeeping(context, () => undefined);
  await context.policy.change({ name: 'tester', address: null }, async (tx) => {
    await tx.query(
      `INSERT INTO managed_domains (name, domain, action) VALUES ('no games', 'games.example', 'deny')`,
    );
    const summary = { subject: codedSubject('policy'), action: codedAction('changed') };
    return { result: null, summary };
  });
  using udp = await UdpClient.open(port);
  expect((await udp.ask('games.example', 'A')).data).toEqual(['0.0.0.0']);
  const explained = await context.explainer.explain({ domain: 'games.example', type: 'A', client: '::1' });
  expect(explained.decided_by).toMatchObject({ origin: 'managed_domain', source: 'no games' });
  await stopInReverse(node.stops, node.logger);
  expect(node.logger.lines.filter(({ message }) => message.startsWith('could not stop a component'))).toEqual(
    [],
  );
  await own.stop();
});
