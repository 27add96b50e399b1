import { expect, test } from '@jest/globals';
import { parseConfig } from '../../config/parse-config.ts';
import { makeTempDir } from '../../test/support/weir/data-dir.ts';
import { freePort } from '../../test/support/weir/free-ports.ts';
import { lockDataDir } from '../storage/db/data-dir-lock.ts';
import { StartSteps } from './upgrade/start-steps.ts';
import { RecentLines } from '../host/log/recent-lines.ts';
import { createLogger } from '../host/log/winston-logger.ts';
import { openNode } from './start-node.ts';
import { stopInReverse } from './stopping.ts';
import type { Stops } from './stopping.ts';

test('openNode() opens a node that may write immediately, and locks its data directory until the node stops', async () => {
  const tempDir = makeTempDir();
  const port = await freePort(['127.0.0.1']);
  const text = `database.url = "postgres://weir@127.0.0.1:9/weir"
logging.level = "error"
server = { data_dir = ${JSON.stringify(tempDir.dataDir)}, dns_port = ${port}, bind_address = ["127.0.0.1"] }
`;
  const loaded = parseConfig({ file: { name: 'weir.toml', text }, env: {} });
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.faults));
  const logger = createLogger(loaded.value.config.logging);
  const stops: Stops = [];
  const steps = new StartSteps();
  const { node, taking } = await openNode({
    ...{ loaded: loaded.value, logger, stops, steps, takesOver: false },
    recentLines: new RecentLines(),
    service: { storedSockets: () => null },
    handover: { taking: null },
  });
  await node.mayWrite;
  expect([taking, node.isTakingOver, node.inherited, node.dnsPort]).toEqual([null, false, null, port]);
  expect(steps.step).toBe('open the data directory');
  expect(() => lockDataDir(tempDir.dataDir)).toThrow(/is in use by another Weir process/);
  await stopInReverse(stops, logger);
  lockDataDir(tempDir.dataDir).release();
  tempDir.remove();
});
