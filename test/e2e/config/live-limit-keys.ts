/** Keys of the rate limit and of health checks, with a check of each key. */
import { Rcode } from '../../../shared/dns/iana.ts';
import type { UpstreamDetail } from '../../../shared/api/upstreams-api.ts';
import { TcpClient, UdpClient } from '../../support/dns/dns-client.ts';
import { DotClient } from '../../support/dns/dot-client.ts';
import { answerTo } from '../../support/dns/echoing-upstream.ts';
import { until } from '../../support/parts/until.ts';
import { closeOf } from '../../support/weir/socket-ends.ts';
import type { KeyValues, LiveKey, LiveFixture } from './live-fixture.ts';

/** A rate limit for each address: a burst of four queries, then one query per second. */
const LIMITED = {
  'dns.rate_limit.enabled': true,
  'dns.rate_limit.burst_size': 4,
  'dns.rate_limit.queries_per_second': 1,
  'dns.rate_limit.ipv4_prefix_len': 32,
};

/** Whether some of 12 questions are refused. */
const isLimited = async (fixture: LiveFixture, address?: string): Promise<boolean> =>
  (await fixture.refusals(12, address)) > 0;

/** Whether some of the replies to 12 questions are truncated. */
async function hasTruncated(fixture: LiveFixture): Promise<boolean> {
  using udp = await UdpClient.open(fixture.weir.dnsPort, '127.0.0.1', fixture.newAddress());
  const replies = await udp.askAll(
    Array.from({ length: 12 }, () => ({ name: fixture.newName(), type: 'A' })),
  );
  return replies.some(({ truncated }) => truncated);
}

/** Whether both of two connections from one address are answered. */
async function answersBoth(fixture: LiveFixture): Promise<boolean> {
  const clients = [await TcpClient.open(fixture.weir.dnsPort), await TcpClient.open(fixture.weir.dnsPort)];
  const replies = await Promise.all(
    clients.map((client) =>
      client.ask(fixture.newName(), 'A').then(
        () => true,
        () => false,
      ),
    ),
  );
  for (const client of clients) await client.close();
  return replies.every(Boolean);
}

/** Whether both of two TLS connections from one address are answered. */
async function answersBothOverTls(fixture: LiveFixture): Promise<boolean> {
  const clients: DotClient[] = [];
  const isAnswered = async (): Promise<boolean> => {
    try {
      const client = await DotClient.open(fixture.dotPort);
      clients.push(client);
      await client.ask(fixture.newName(), 'A');
      return true;
    } catch {
      return false;
    }
  };
  const both = [await isAnswered(), await isAnswered()];
  const closed = clients.map(({ socket }) => closeOf(socket));
  for (const client of clients) client.close();
  await Promise.all(closed);
  return both.every(Boolean);
}

/** A server that is probed each second. */
const probed = (fixture: LiveFixture): KeyValues => ({
  'dns.pools': fixture.pools(fixture.scripted),
  'dns.health_check.enabled': true,
  'dns.health_check.interval_secs': 1,
  'dns.health_check.timeout_ms': 800,
  'dns.health_check.failure_threshold': 1,
  'dns.health_check.success_threshold': 1,
});

type ServerState = Pick<UpstreamDetail, 'status' | 'consecutive_failures'>;

async function stateOf(fixture: LiveFixture): Promise<ServerState> {
  const path = '/upstream/health/detail';
  return (await fixture.api.expect<UpstreamDetail[]>(200, 'GET', path))[0]!;
}

/**
 * Answers probes after a delay of this many milliseconds; returns a function that returns the number of answered
 * probes.
 */
function answerLate(fixture: LiveFixture, delayMs: number): () => number {
  let answered = 0;
  fixture.scripted.udpScript = (query) => {
    setTimeout(() => {
      answered++;
      if (!fixture.scripted.isClosed) query.reply(answerTo(query.bytes));
    }, delayMs).unref();
  };
  return () => answered;
}

/** The state of a server that never answers, once two probes have failed. */
async function stateOfSilent(fixture: LiveFixture): Promise<unknown> {
  fixture.scripted.udpScript = () => undefined;
  const state = (): Promise<ServerState> => stateOf(fixture);
  return (await until('two failed probes', state, ({ consecutive_failures: count }) => count >= 2)).status;
}

/** The state of a server that has stopped answering, once the server is unhealthy or has failed six probes. */
async function stateOfFallenSilent(fixture: LiveFixture): Promise<unknown> {
  answerLate(fixture, 0);
  await until(
    'a healthy server',
    () => stateOf(fixture),
    ({ status }) => status === 'Healthy',
  );
  fixture.scripted.udpScript = () => undefined;
  // Each thread probes separately, so a thread may have two failures before another thread has any.
  const isKnown = ({ status, consecutive_failures: count }: ServerState): boolean =>
    status === 'Unhealthy' || count >= 6;
  return (await until('an unhealthy server, or six failed probes', () => stateOf(fixture), isKnown)).status;
}

/** The state of a server that answers again, once the server is healthy or has answered four probes. */
async function stateOfBack(fixture: LiveFixture): Promise<unknown> {
  await stateOfSilent(fixture);
  const answered = answerLate(fixture, 0);
  const { status } = await until(
    'a healthy server, or four answers to probes',
    async () => ({ answered: answered(), status: (await stateOf(fixture)).status }),
    (state) => state.answered >= 4 || state.status === 'Healthy',
  );
  return status;
}

/** The state of a server that answers after 1.6 s. */
async function stateOfSlow(fixture: LiveFixture): Promise<unknown> {
  answerLate(fixture, 1600);
  const known = ({ status }: ServerState): boolean => status !== 'Unknown';
  return (await until('the state of a slow server', () => stateOf(fixture), known)).status;
}

export const LIMIT_KEYS: readonly LiveKey[] = [
  {
    key: 'dns.chaos_clients',
    to: ['192.0.2.0/24'],
    observe: async (fixture) => (await fixture.ask('id.server', 'TXT', { qclass: 3 })).rcode,
    before: Rcode.NOERROR,
    after: Rcode.REFUSED,
  },
  {
    key: 'dns.blocked_clients',
    to: ['127.0.8.8/32'],
    observe: (fixture) => fixture.refusals(1, '127.0.8.8'),
    before: 0,
    after: 1,
  },
  {
    key: 'dns.health_check_names',
    to: ['live.example.net'],
    observe: async (fixture) => {
      const before = await fixture.api.queryCount();
      await fixture.ask('live.example.net');
      const last = fixture.newName();
      await fixture.ask(last);
      await fixture.api.untilQueryCount(1, `domain=${last}`);
      return (await fixture.api.queryCount()) - before;
    },
    before: 2,
    after: 1,
  },
  {
    key: 'dns.rate_limit.enabled',
    to: true,
    alongside: { ...LIMITED, 'dns.rate_limit.enabled': false },
    observe: isLimited,
    before: false,
    after: true,
  },
  {
    key: 'dns.rate_limit.queries_per_second',
    to: 1_000_000,
    alongside: LIMITED,
    observe: isLimited,
    before: true,
    after: false,
  },
  {
    key: 'dns.rate_limit.burst_size',
    to: 1000,
    alongside: LIMITED,
    observe: isLimited,
    before: true,
    after: false,
  },
  {
    key: 'dns.rate_limit.ipv4_prefix_len',
    to: 24,
    alongside: LIMITED,
    observe: async (fixture) => {
      // Two addresses in one /24 send three questions each.
      const net = fixture.newAddress().split('.')[3]!;
      const refused = [
        await fixture.refusals(3, `127.9.${net}.1`),
        await fixture.refusals(3, `127.9.${net}.2`),
      ];
      return refused[0]! + refused[1]! > 0;
    },
    before: false,
    after: true,
  },
  {
    key: 'dns.rate_limit.whitelist',
    to: ['127.0.8.1'],
    alongside: LIMITED,
    observe: (fixture) => isLimited(fixture, '127.0.8.1'),
    before: true,
    after: false,
  },
  {
    key: 'dns.rate_limit.nxdomain_per_second',
    to: 1,
    alongside: (fixture) => ({
      ...LIMITED,
      'dns.rate_limit.burst_size': 1000,
      'dns.pools': fixture.pools(fixture.scripted),
    }),
    observe: (fixture) => {
      fixture.scriptedFails(Rcode.NXDOMAIN);
      return isLimited(fixture);
    },
    before: false,
    after: true,
  },
  {
    key: 'dns.rate_limit.slip_ratio',
    to: 1,
    alongside: LIMITED,
    observe: hasTruncated,
    before: false,
    after: true,
  },
  {
    key: 'dns.rate_limit.dry_run',
    to: true,
    alongside: LIMITED,
    observe: isLimited,
    before: true,
    after: false,
  },
  {
    key: 'dns.rate_limit.tcp_max_connections_per_ip',
    to: 1,
    observe: answersBoth,
    before: true,
    after: false,
  },
  {
    key: 'dns.rate_limit.dot_max_connections_per_ip',
    to: 1,
    observe: answersBothOverTls,
    before: true,
    after: false,
  },
  {
    key: 'dns.health_check.failure_threshold',
    to: 100,
    alongside: probed,
    observe: stateOfFallenSilent,
    before: 'Unhealthy',
    after: 'Healthy',
  },
  {
    key: 'dns.health_check.success_threshold',
    to: 100,
    alongside: probed,
    observe: stateOfBack,
    before: 'Healthy',
    after: 'Unhealthy',
  },
  {
    key: 'dns.health_check.timeout_ms',
    to: 5000,
    alongside: probed,
    observe: stateOfSlow,
    before: 'Unhealthy',
    after: 'Healthy',
  },
];
