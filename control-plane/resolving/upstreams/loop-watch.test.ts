import { expect, test } from '@jest/globals';
import { loopName } from '../../../shared/dns/loop-name.ts';
import { nameFromText } from '../../../shared/dns/name.ts';
import { addressFromText } from '../../../shared/net/ip.ts';
import { logRow } from '../../../test/support/parts/log-row.ts';
import { watchLoops } from './loop-watch.ts';

const TOKEN = '0123456789abcdef01234567';
const client = addressFromText('192.0.2.1')!;

test('watchLoops() reports clients that query the name of a loop check, and no other names', () => {
  const reported: string[] = [];
  const see = watchLoops((token, from) => reported.push(`${token} ${from}`));
  const zone = nameFromText('corp.example')!;
  const names = [loopName(TOKEN, null)!, loopName(TOKEN, zone)!, nameFromText('www.example.org')!, zone];
  for (const qname of names) see(logRow({ client, qname }));
  expect(reported).toEqual([`${TOKEN} 192.0.2.1`, `${TOKEN} 192.0.2.1`]);
});

test('watchLoops() reports at most 32 queries per second', () => {
  let reported = 0;
  const see = watchLoops(() => reported++);
  const qname = loopName(TOKEN, null)!;
  for (let i = 0; i < 1000; i++) see(logRow({ client, qname, timestampMs: 5000 + i }));
  expect(reported).toBe(32);
  see(logRow({ client, qname, timestampMs: 6000 }));
  expect(reported).toBe(33);
});
