/** The common parts of a node, for tests of other parts that depend on them. */
import { randomUUID } from 'node:crypto';
import { parseConfig } from '../../../config/parse-config.ts';
import { ActiveAccess } from '../../../control-plane/clients/access/active-access.ts';
import { ClientDirectory } from '../../../control-plane/clients/devices/client-directory.ts';
import { LeaseWatch } from '../../../control-plane/clients/devices/lease-watch.ts';
import { JobLeases } from '../../../control-plane/storage/cluster/leases.ts';
import { ClusterSecret } from '../../../control-plane/storage/cluster/cluster-secret.ts';
import type { Database } from '../../../control-plane/storage/db/database.ts';
import type { Node } from '../../../control-plane/node/node.ts';
import { Configuration } from '../../../control-plane/policy/settings/configuration.ts';
import { systemClock as clock } from '../../../shared/clock.ts';
import { MemoryLogger } from './memory-logger.ts';

/** Settings that send no queries to other machines. */
const TOML = `server.bind_address = ["127.0.0.1"]
dns.pools = [{ name = "none", servers = ["127.0.0.1:9"] }]
`;

/** A node with one worker on this database and data directory. */
export function testNode(
  database: Database,
  dataDir: string,
  toml = '',
  dnsPort = 0,
): Node & { logger: MemoryLogger } {
  const defaults = ['server.web_port = 0', 'server.workers = 1', 'blocking.catalog_url = ""'].filter(
    (line) => !toml.includes(line.split(' ')[0]!),
  );
  const text = [TOML, ...defaults, toml, ''].join('\n');
  const loaded = parseConfig({ file: { name: 'test.toml', text }, env: {} });
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.faults));
  const logger = new MemoryLogger();
  const configuration = new Configuration({ loaded: loaded.value, dataDir, database, logger });
  const config = configuration.current();
  const uuid = randomUUID();
  const clients = new ClientDirectory();
  return {
    loaded: loaded.value,
    config,
    configuration,
    nodeName: 'test-node',
    uuid,
    version: '0.0.0-test',
    clock,
    startedAtMs: 0,
    logger,
    recentLines: { all: () => [] },
    dataDir,
    mayWrite: Promise.resolve(),
    isTakingOver: false,
    inherited: null,
    database,
    jobs: new JobLeases({ database, logger, node: uuid }),
    secret: new ClusterSecret({ database, dataDir, logger }),
    clients,
    access: new ActiveAccess({ configuration, clients, clock }),
    leases: new LeaseWatch({ paths: () => configuration.current().dns.dhcp_leases, clock, logger }),
    neighbours: () => [],
    dnsPort,
    ownPorts: new Set(),
    stops: [],
  };
}
