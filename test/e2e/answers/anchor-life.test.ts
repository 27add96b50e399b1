/**
 * A private root changes its key under a running Weir server (RFC 5011). Instead of waiting for the hold-down time, the
 * test changes the dates in Weir's file between two runs.
 */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  ANCHOR_FILE,
  anchorText,
  type KeysByZone,
  readAnchorText,
} from '../../../control-plane/resolving/trust-anchors/anchor-file.ts';
import { Rcode, rrTypeName } from '../../../shared/dns/iana.ts';
import { nameToText } from '../../../shared/dns/name.ts';
import { idOf, octets, questionOf, u16 } from '../../support/dns/built-messages.ts';
import { ScriptedUpstream } from '../../support/dns/scripted-upstream.ts';
import { positive, TestZone } from '../../support/dns/test-zone.ts';
import { until } from '../../support/parts/until.ts';
import { makeTempDir } from '../../support/weir/data-dir.ts';
import { UdpClient } from '../../support/dns/dns-client.ts';
import { Weir } from '../../support/weir/weir-process.ts';

const MONTH_MS = 31 * 86_400_000;
const now = Math.floor(Date.now() / 1000);
const HOURS = { inception: now - 3600, expiration: now + 7200 };
const OLD = new TestZone('example.org');
const NEW = new TestZone('example.org');
const OLD_REVOKED = OLD.revoked();
const BOTH = `${OLD.dnskey}\n${NEW.dnskey}`;
const SWAPPED = `${OLD_REVOKED.dnskey}\n${NEW.dnskey}`;
const lastLine = (text: string): string => text.split('\n').at(-1)!;

/** The zone at each stage: its keys, and the key that signs its data. */
const AGES = {
  before: [OLD.signed(OLD.dnskey, HOURS), OLD],
  published: [OLD.signed(BOTH, HOURS), OLD],
  after: [`${OLD_REVOKED.signed(SWAPPED, HOURS)}\n${lastLine(NEW.signed(SWAPPED, HOURS))}`, NEW],
} as const;

describe('weir whose trust anchor changes its key', () => {
  const tempDir = makeTempDir();
  const anchors = join(tempDir.path, 'anchors');
  const file = join(tempDir.dataDir, ANCHOR_FILE);
  let upstream: ScriptedUpstream;
  let age: keyof typeof AGES = 'before';

  beforeAll(async () => {
    upstream = await ScriptedUpstream.start();
    upstream.udpScript = (query) => query.reply(answer(query.bytes));
    upstream.tcpScript = upstream.udpScript;
    writeFileSync(anchors, `${OLD.ds}\n`);
  });

  afterAll(async () => {
    await upstream.close();
    tempDir.remove();
  });

  function answer(query: Uint8Array): Uint8Array {
    const { qname, qtype } = questionOf(query);
    const [keys, signer] = AGES[age];
    const text =
      rrTypeName(qtype) === 'DNSKEY'
        ? keys
        : signer.signed(`${nameToText(qname).toLowerCase()} 300 A 192.0.2.1`, HOURS);
    const { answerCount, body } = positive(text);
    const question = query.slice(12, 12 + qname.length + 4);
    return octets(u16(idOf(query)), [0x81, 0x80], [1, answerCount, 0, 0].flatMap(u16), question, body);
  }

  function start(updates = 'all'): Promise<Weir> {
    const pools = `[dns]
dnssec_enabled = true
dnssec_trust_anchors = ${JSON.stringify(anchors)}
dnssec_anchor_updates = "${updates}"
[[dns.pools]]
name = "zone"
servers = ["127.0.0.1:${String(upstream.port)}"]
`;
    return Weir.start({ tempDir, pools, database: 'none' });
  }

  async function rcodeOf(weir: Weir, name: string): Promise<number> {
    const udp = await UdpClient.open(weir.dnsPort);
    const { rcode } = await udp.ask(name, 'A');
    udp.close();
    return rcode;
  }

  const statesOnDisk = (): string[] =>
    [...readAnchorText(readFileSync(file, 'utf8'))].flatMap(([, keys]) => keys.map(({ state }) => state));

  const changes = (weir: Weir): number => weir.output.split('trust anchor changed its state').length - 1;

  const untilChanges = (weir: Weir, count: number): Promise<number> =>
    until(
      `${String(count)} trust anchors to change their state`,
      () => changes(weir),
      (seen) => seen === count,
    );

  /** Changes the dates in the file, as if Weir had written it a month ago. */
  function age31Days(): void {
    const keys: KeysByZone = new Map(
      [...readAnchorText(readFileSync(file, 'utf8'))].map(([zone, all]) => [
        zone,
        all.map((key) => ({
          ...key,
          sinceMs: key.sinceMs - MONTH_MS,
          trustedFromMs: key.trustedFromMs - MONTH_MS,
        })),
      ]),
    );
    writeFileSync(file, anchorText(keys));
  }

  test('trusts a new key a month after its discovery, and stops trusting the old key once it is revoked', async () => {
    age = 'published';
    const first = await start();
    await untilChanges(first, 2);
    expect(await rcodeOf(first, 'www.example.org')).toBe(Rcode.NOERROR);
    await first.stop();
    expect(statesOnDisk()).toEqual(['valid', 'add-pending']);

    age31Days();
    age = 'published';
    const second = await start();
    await untilChanges(second, 1);
    await second.stop();
    expect(statesOnDisk()).toEqual(['valid', 'valid']);

    age = 'after';
    const third = await start();
    await untilChanges(third, 1);
    expect(await rcodeOf(third, 'www.example.org')).toBe(Rcode.NOERROR);
    await third.stop();
    expect(statesOnDisk()).toEqual(['revoked', 'valid']);

    // Answers signed with the old key are not trusted, neither by running threads nor after a restart.
    age = 'before';
    const fourth = await start();
    expect(await rcodeOf(fourth, 'www.example.org')).toBe(Rcode.SERVFAIL);
    await fourth.stop();
  });

  test('uses the configured trust anchors if the stored file is damaged or if Weir does not follow key changes', async () => {
    age = 'before';
    writeFileSync(file, 'no anchors');
    const damaged = await start();
    await untilChanges(damaged, 1);
    expect(damaged.output).toContain('could not read the stored trust anchors; using the configured ones');
    expect(await rcodeOf(damaged, 'www.example.org')).toBe(Rcode.NOERROR);
    await damaged.stop();

    age = 'published';
    const off = await start('off');
    expect(await rcodeOf(off, 'www.example.org')).toBe(Rcode.NOERROR);
    await off.stop();
    expect(statesOnDisk()).toEqual(['valid']);
  });
});
