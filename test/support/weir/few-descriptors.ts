/**
 * A program that sends 2,000 concurrent queries to a server on loopback, whose UDP port is its argument, and then
 * prints the results and the report on the server as JSON. It runs with too few file descriptors for so many queries.
 */
import { Resolver } from '../../../dns-worker/resolve/resolver.ts';
import { systemClock } from '../../../shared/clock.ts';
import { question } from '../dns/built-messages.ts';
import { MemoryLogger } from '../parts/memory-logger.ts';

const server = {
  address: 'server',
  transport: 'udp',
  host: '127.0.0.1',
  port: Number(process.argv[2]),
} as const;
const healthCheck = {
  enabled: false,
  intervalSecs: 60,
  timeoutMs: 1000,
  failureThreshold: 3,
  successThreshold: 1,
};
const pools = [{ name: 'pool', strategy: 'Failover', priority: 1, servers: [server] }] as const;
const settings = { pools, queryTimeoutMs: 3000, bootstrap: [], healthCheck };
const resolver = new Resolver(settings, systemClock, new MemoryLogger());
const names = Array.from({ length: 2000 }, (_, i) => `n${String(i)}.example.org`);
const reasons = await Promise.all(
  names.map(
    (name) =>
      new Promise<string>((done) => {
        resolver.resolve(question(name, 'A'), (it) => done(it.kind === 'answer' ? it.kind : it.reason));
      }),
  ),
);
process.stdout.write(JSON.stringify({ reasons, report: resolver.report()[0] }));
await resolver.close();
