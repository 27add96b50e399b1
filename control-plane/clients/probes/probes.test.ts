import { describe, expect, test } from '@jest/globals';
import { nameFromText } from '../../../shared/dns/name.ts';
import { addressFromText } from '../../../shared/net/ip.ts';
import { Protocol } from '../../../shared/query-log.ts';
import { TestClock } from '../../../test/support/parts/test-clock.ts';
import { emptyRow, type QueryLogRow } from '../../query-log/rows/row.ts';
import { PROBE_ZONE } from '../../../shared/dns/probe-zone.ts';
import { ProbeWatch } from './probe-watch.ts';
import { PROBE_LIFE_MS, Probes } from './probes.ts';

const clock = new TestClock();

/** A row as the drain of the log rings creates it, in the middle of a larger buffer. */
function rowOf(name: string, client = '192.0.2.7'): QueryLogRow {
  const row = emptyRow();
  const qname = nameFromText(name)!;
  row.bytes = new Uint8Array(400);
  row.bytes.set(addressFromText(client)!, 16);
  row.bytes.set(qname, 64);
  row.client.at = 16;
  row.qname.at = 64;
  row.qname.length = qname.length;
  row.timestampMs = clock.nowMs() + 0.25;
  row.protocol = Protocol.tcp;
  return row;
}

/** Probes, and a function that passes a row of the log to their watch. */
function watched(): { probes: Probes; see: (row: QueryLogRow) => void } {
  const watch = new ProbeWatch();
  const probes = new Probes(clock, (tokens) => watch.use(tokens));
  const see = (row: QueryLogRow): void => {
    const query = watch.find(row);
    if (query !== null) probes.note(query);
  };
  return { probes, see };
}

describe('Probes', () => {
  test('report the first client, its transport and the number of queries', () => {
    const { probes, see } = watched();
    const { id, name } = probes.create()!;
    see(rowOf(name));
    for (let i = 0; i < 2; i++) see(rowOf(name, '2001:db8::1'));
    const first = { askedMs: Math.floor(clock.nowMs()), client: '192.0.2.7', protocol: 'tcp' };
    const askers = [
      { client: '192.0.2.7', protocol: 'tcp', queries: 1 },
      { client: '2001:db8::1', protocol: 'tcp', queries: 2 },
    ];
    expect(probes.get(id)).toMatchObject({ first, askers, queries: 3 });
  });

  test('report up to eight clients that queried a name, and count all queries', () => {
    const { probes, see } = watched();
    const { id, name } = probes.create()!;
    for (let i = 1; i <= 9; i++) see(rowOf(name, `192.0.2.${String(i)}`));
    expect(probes.get(id)).toMatchObject({ queries: 9 });
    expect(
      probes
        .get(id)!
        .askers.map(({ client }) => client)
        .at(-1),
    ).toBe('192.0.2.8');
  });

  test('ignore queries for unknown names, and for their own names after they expired', () => {
    const { probes, see } = watched();
    const { id, name } = probes.create()!;
    const flipped = (name.startsWith('0') ? '1' : '0') + name.slice(1);
    for (const other of [PROBE_ZONE, `x.${name}`, flipped, name.replace('weir', 'wier'), 'example.org', '.'])
      see(rowOf(other));
    expect(probes.get(id)).toMatchObject({ first: null, askers: [], queries: 0 });
    clock.advance(PROBE_LIFE_MS);
    expect(probes.get(id)).toBeUndefined();
    see(rowOf(name));
    expect(probes.get(id)).toBeUndefined();
  });

  test('are limited in number', () => {
    const { probes } = watched();
    const made = Array.from({ length: 1001 }, () => probes.create());
    expect([made.filter((probe) => probe !== null).length, made.at(-1)]).toEqual([1000, null]);
    clock.advance(PROBE_LIFE_MS);
    expect(probes.create()).not.toBeNull();
  });
});
