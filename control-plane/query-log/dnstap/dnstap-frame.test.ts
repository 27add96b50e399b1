import { afterEach, describe, expect, test } from '@jest/globals';
import { nameFromText } from '../../../shared/dns/name.ts';
import { RRType } from '../../../shared/dns/iana.ts';
import { addressFromText } from '../../../shared/net/ip.ts';
import { Protocol, QueryStatus } from '../../../shared/query-log.ts';
import { DnstapReceiver } from '../../../test/support/dns/dnstap-receiver.ts';
import { MemoryLogger } from '../../../test/support/parts/memory-logger.ts';
import { until } from '../../../test/support/parts/until.ts';
import { emptyRow, type QueryLogRow } from '../rows/row.ts';
import type { QueryLogPrivacy } from '../store/privacy.ts';
import { Dnstap } from './dnstap.ts';

/** Wire form of an A record with address 192.0.2.7, whose owner is a pointer to the queried name. */
const ANSWER = Uint8Array.of(0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 192, 0, 2, 7);

const cleanUps: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

/** A row of a query for a name, with an answer. */
function rowOf(name: string, change: Partial<QueryLogRow> = {}): QueryLogRow {
  const qname = nameFromText(name)!;
  const bytes = Buffer.concat([addressFromText('192.0.2.33')!, qname, ANSWER]);
  return {
    ...emptyRow(),
    ...{ bytes, client: { at: 0, length: bytes.length - qname.length - ANSWER.length } },
    qname: { at: bytes.length - qname.length - ANSWER.length, length: qname.length },
    answers: { at: bytes.length - ANSWER.length, length: ANSWER.length },
    ...{ timestampMs: 1_790_000_000_123.5, responseTimeUs: 250, qtype: RRType.A },
    ...change,
  };
}

function open(target: string, privacy: QueryLogPrivacy = 'full'): { tap: Dnstap; logger: MemoryLogger } {
  const logger = new MemoryLogger();
  const tap = new Dnstap({ target, identity: 'node-a', version: 'Weir 1', privacy: () => privacy, logger });
  cleanUps.push(() => tap.close(100));
  return { tap, logger };
}

/** Starts the dnstap receiver of Debian. */
function capture(): DnstapReceiver {
  const receiver = new DnstapReceiver();
  cleanUps.push(() => receiver.remove());
  return receiver;
}

const untilConnected = (logger: MemoryLogger): Promise<unknown> =>
  until(
    'the stream to connect',
    () => logger.text(),
    (text) => text.includes('dnstap stream connected'),
  );

describe('Dnstap', () => {
  test('sends queries to a real receiver on a Unix socket, with times, answer and policy', async () => {
    const receiver = capture();
    const target = await receiver.target();
    const { tap, logger } = open(target);
    await untilConnected(logger);
    tap.append(rowOf('www.example.org.'));
    const rule = { source: 'Ads', before: '||', atName: true, after: '^', lists: [1] };
    const blocked = rowOf('ads.example.net.', {
      status: QueryStatus.BLOCKED_LIST,
      rule,
      protocol: Protocol.tcp,
    });
    tap.append({ ...blocked, ruleName: blocked.qname, answers: { at: 0, length: 0 } });
    await tap.close(2000);
    expect(tap.counters()).toEqual({ sent: 2, lost: 0 });
    const text = await receiver.taken();
    expect(text.match(/type: CLIENT_RESPONSE/g)).toHaveLength(2);
    for (const part of [
      'identity: "node-a"',
      'query_time: !!timestamp 2026-09-21 14:13:20.123500',
      'response_time: !!timestamp 2026-09-21 14:13:20.123750',
      'socket_protocol: UDP',
      'socket_protocol: TCP',
      'query_address: "192.0.2.33"',
      'www.example.org.\t60\tIN\tA\t192.0.2.7',
    ])
      expect(text).toContain(part);
    expect(text).toMatch(/;ads\.example\.net\.\s+IN\s+A/);
  });

  test('sends no more data of a client than the privacy level of the query log allows', async () => {
    const receiver = capture();
    const target = await receiver.target();
    const streams: [QueryLogPrivacy, string][] = [
      ['anonymous_clients', 'anonymous.example.org.'],
      ['no_answers', 'silent.example.org.'],
      ['off', 'secret.example.org.'],
    ];
    for (const [privacy, name] of streams) {
      const { tap, logger } = open(target, privacy);
      await untilConnected(logger);
      tap.append(rowOf(name));
      await tap.close(2000);
    }
    const text = await receiver.taken();
    expect(text).toContain('query_address: "192.0.2.0"');
    expect(text).toContain('anonymous.example.org.\t60\tIN\tA\t192.0.2.7');
    expect(text).toMatch(/;silent\.example\.org\./);
    expect(text).not.toContain('silent.example.org.\t60');
    expect(text).not.toContain('secret');
  });
});
