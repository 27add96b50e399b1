/**
 * The resolver against real servers: NSD, and Unbound in front of NSD, must give the same answers to the same questions
 * as a server of the test that has the zone in memory.
 *
 * @needs nsd unbound
 */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Resolver } from '../../dns-worker/resolve/resolver.ts';
import type { CacheableAnswer, Question } from '../../dns-worker/resolve/resolver.ts';
import { systemClock } from '../../shared/clock.ts';
import { decodeMessage } from '../../shared/dns/codec.ts';
import { RRType, Rcode } from '../../shared/dns/iana.ts';
import type { RRTypeName } from '../../shared/dns/iana.ts';
import { startNsd, startUnbound } from '../support/dns/authority.ts';
import type { RunningServer } from '../support/dns/authority.ts';
import {
  a,
  cname,
  idOf,
  octets,
  question,
  questionOf,
  response,
  soa,
  u16,
  wireName,
} from '../support/dns/built-messages.ts';
import type { TestRecord } from '../support/dns/built-messages.ts';
import { MemoryLogger } from '../support/parts/memory-logger.ts';
import { within } from '../support/parts/until.ts';
import { ScriptedUpstream } from '../support/dns/scripted-upstream.ts';
import type { ReceivedQuery } from '../support/dns/scripted-upstream.ts';

const ZONE = 'weir.test';
const CHAIN_LENGTH = 8;
const LONG_TEXTS = Array.from({ length: 24 }, (_, i) => String.fromCharCode(0x61 + (i % 26)).repeat(250));

const ZONE_TEXT = `$ORIGIN ${ZONE}.
$TTL 300
@ IN SOA ns.${ZONE}. root.${ZONE}. 1 2 3 4 60
@ IN NS ns
ns IN A 127.0.0.1
www IN A 192.0.2.1
www IN A 192.0.2.2
www IN AAAA 2001:db8::1
mail IN MX 10 www
long IN TXT ${LONG_TEXTS.map((text) => `"${text}"`).join(' ')}
svc IN SVCB 1 www.${ZONE}. port=8443
odd IN TYPE65280 \\# 4 C00CFFFF
c0 IN CNAME c1
${Array.from({ length: CHAIN_LENGTH - 1 }, (_, i) => `c${String(i + 1)} IN CNAME c${String(i + 2)}`).join('\n')}
c${String(CHAIN_LENGTH)} IN A 192.0.2.8
dangling IN CNAME nothing
`;

function record(owner: string, type: RRTypeName | number, rdata: Uint8Array): TestRecord {
  return { owner: `${owner}.${ZONE}`, type, ttl: 300, rdata };
}

const chainName = (i: number): string => `c${String(i)}.${ZONE}`;

const RECORDS: readonly TestRecord[] = [
  a(`www.${ZONE}`, '192.0.2.1'),
  a(`www.${ZONE}`, '192.0.2.2'),
  record('www', 'AAAA', Uint8Array.of(0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1)),
  record('mail', 'MX', octets([0, 10], wireName(`www.${ZONE}`))),
  record('long', 'TXT', octets(...LONG_TEXTS.map((text) => [text.length, ...Buffer.from(text)]))),
  record('svc', 'SVCB', octets([0, 1], wireName(`www.${ZONE}`), u16(3), u16(2), u16(8443))),
  record('odd', 65280, Uint8Array.of(0xc0, 0x0c, 0xff, 0xff)),
  ...Array.from({ length: CHAIN_LENGTH }, (_, i) => cname(chainName(i), chainName(i + 1))),
  a(chainName(CHAIN_LENGTH), '192.0.2.8'),
  cname(`dangling.${ZONE}`, `nothing.${ZONE}`),
];

/** Answers from RECORDS with complete alias chains, truncated if they do not fit over UDP. */
function fromRecords(query: ReceivedQuery): void {
  const asked = questionOf(query.bytes);
  const answers: TestRecord[] = [];
  let owner = Buffer.from(asked.qname).toString('latin1').toLowerCase();
  const textOf = (name: string | Uint8Array): string =>
    Buffer.from(typeof name === 'string' ? wireName(name) : name).toString('latin1');
  const codeOf = (type: RRTypeName | number): number => (typeof type === 'number' ? type : RRType[type]);
  let exists: boolean;
  for (;;) {
    const here = RECORDS.filter((it) => textOf(it.owner) === owner);
    exists = here.length > 0;
    answers.push(...here.filter((it) => codeOf(it.type) === asked.qtype || it.type === 'CNAME'));
    const alias = here.find((it) => it.type === 'CNAME' && asked.qtype !== RRType.CNAME);
    if (alias === undefined) break;
    owner = Buffer.from(alias.rdata).toString('latin1');
  }
  const found = answers.some((it) => codeOf(it.type) === asked.qtype);
  const flags = exists ? 0x8580 : 0x8583;
  const authorities = found ? [] : [soa(ZONE, 300, 60)];
  const message = response(asked, { id: idOf(query.bytes), flags, answers, authorities });
  const fits = query.connection !== null || message.length <= 1232;
  query.reply(fits ? message : response(asked, { id: idOf(query.bytes), flags: flags | 0x200 }));
}

async function startOwn(): Promise<RunningServer> {
  const server = await ScriptedUpstream.start();
  server.udpScript = fromRecords;
  server.tcpScript = fromRecords;
  return server;
}

async function startBoth(): Promise<RunningServer> {
  const authority = await startNsd(ZONE, ZONE_TEXT);
  try {
    const resolver = await startUnbound(ZONE, authority.port);
    const close = async (): Promise<void> => {
      await resolver.close();
      await authority.close();
    };
    return { ip: resolver.ip, port: resolver.port, close };
  } catch (error) {
    await authority.close();
    throw error;
  }
}

const SERVERS: [string, () => Promise<RunningServer>][] = [
  ['the test itself', startOwn],
  ['NSD', () => startNsd(ZONE, ZONE_TEXT)],
  ['Unbound before NSD', startBoth],
];

/** The decoded records of an assembled message. TTLs are left out, because a resolver counts them down. */
function view(asked: Question, answer: CacheableAnswer): string[] {
  const counts = [1, answer.answerCount, answer.authorityCount, 0].flatMap(u16);
  const message = octets(
    [0, 0, 0x81, 0x80],
    counts,
    asked.qname,
    u16(asked.qtype),
    u16(asked.qclass),
    answer.body,
  );
  const packet = decodeMessage(message);
  if (packet === null) throw new Error('decode: the normalised answer is not a valid message');
  return [...(packet.answers ?? []), ...(packet.authorities ?? [])]
    .map((it) =>
      JSON.stringify({ name: it.name.toLowerCase(), type: it.type, data: 'data' in it ? it.data : null }),
    )
    .sort();
}

describe.each(SERVERS)('Resolver with %s as upstream', (_name, start) => {
  let server: RunningServer;
  let own: RunningServer;
  let resolver: Resolver;
  let reference: Resolver;

  const resolverOf = (of: RunningServer): Resolver => {
    const upstream = { address: 'udp', transport: 'udp', host: of.ip, port: of.port } as const;
    const healthCheck = {
      enabled: false,
      intervalSecs: 30,
      timeoutMs: 2000,
      failureThreshold: 3,
      successThreshold: 2,
    };
    const pools = [{ name: 'lab', strategy: 'Parallel', priority: 1, servers: [upstream] }] as const;
    return new Resolver(
      { pools, queryTimeoutMs: 5000, bootstrap: [], healthCheck },
      systemClock,
      new MemoryLogger(),
    );
  };

  const resolve = (by: Resolver, asked: Question): Promise<CacheableAnswer> =>
    within(
      'a question to be resolved',
      new Promise((done, fail) => {
        by.resolve(asked, (resolution) => {
          if (resolution.kind === 'answer') done(resolution.answer);
          else fail(new Error(`resolve: ${JSON.stringify(resolution)}`));
        });
      }),
    );

  beforeAll(async () => {
    server = await start();
    own = await startOwn();
    resolver = resolverOf(server);
    reference = resolverOf(own);
  });

  afterAll(async () => {
    await resolver.close();
    await reference.close();
    await server.close();
    await own.close();
  });

  test.each<[string, RRTypeName | number, number, number, number]>([
    ['www', 'A', Rcode.NOERROR, 2, 0],
    ['WWW', 'AAAA', Rcode.NOERROR, 1, 0],
    ['mail', 'MX', Rcode.NOERROR, 1, 0],
    ['long', 'TXT', Rcode.NOERROR, 1, 0],
    ['svc', 'SVCB', Rcode.NOERROR, 1, 0],
    ['odd', 65280, Rcode.NOERROR, 1, 0],
    ['c0', 'A', Rcode.NOERROR, CHAIN_LENGTH + 1, 0],
    ['c0', 'CNAME', Rcode.NOERROR, 1, 0],
    ['www', 'TXT', Rcode.NOERROR, 0, 1],
    ['nothing', 'A', Rcode.NXDOMAIN, 0, 1],
    ['dangling', 'A', Rcode.NXDOMAIN, 1, 1],
  ])(
    '%s %s has RCODE %d with %d answers and %d authority records',
    async (name, type, rcode, answers, authorities) => {
      const asked = question(`${name}.${ZONE}`, type);
      const answer = await resolve(resolver, asked);
      expect(answer).toMatchObject({
        rcode,
        answerCount: answers,
        authorityCount: authorities,
        negative: authorities > 0,
      });
      expect(answer.minTtlSecs).toBeGreaterThan(0);
      expect(answer.minTtlSecs).toBeLessThanOrEqual(authorities > 0 ? 60 : 300);
      expect(view(asked, answer)).toEqual(view(asked, await resolve(reference, asked)));
    },
  );

  test('a TXT record of more than 4 KiB is returned completely', async () => {
    const answer = await resolve(resolver, question(`long.${ZONE}`, 'TXT'));
    expect(answer.body.length).toBe(12 + LONG_TEXTS.length * 251);
  });
});
