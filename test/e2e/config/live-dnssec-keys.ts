/** Keys of DNSSEC validation, with a check of each key, in a signed zone that has one forged name. */
import type { CacheableAnswer } from '../../../dns-worker/resolve/response/cacheable-answer.ts';
import { Rcode, rrTypeName } from '../../../shared/dns/iana.ts';
import { nameToText } from '../../../shared/dns/name.ts';
import { idOf, octets, questionOf, u16 } from '../../support/dns/built-messages.ts';
import { positive, TestZone } from '../../support/dns/test-zone.ts';
import type { KeyValues, LiveKey, LiveFixture } from './live-fixture.ts';

const now = Math.floor(Date.now() / 1000);
const HOURS = { inception: now - 3600, expiration: now + 3600 };
const ORG = new TestZone('org');
const ZONE = new TestZone('example.org');
const signed = (records: string): string => ZONE.signed(records, HOURS);

const TABLE: Readonly<Record<string, CacheableAnswer>> = {
  'org DNSKEY': positive(ORG.signed(ORG.dnskey, HOURS)),
  'example.org DS': positive(ORG.signed(ZONE.ds, HOURS)),
  'example.org DNSKEY': positive(signed(ZONE.dnskey)),
  'www.example.org A': positive(signed('www.example.org 300 A 192.0.2.1')),
  'forged.example.org A': positive(
    signed('forged.example.org 300 A 192.0.2.5').replace('192.0.2.5', '192.0.2.66'),
  ),
};

/** Answers from the table, or with SERVFAIL for names that are not in the table. */
function answer(query: Uint8Array): Uint8Array {
  const asked = questionOf(query);
  const found = TABLE[`${nameToText(asked.qname).toLowerCase()} ${rrTypeName(asked.qtype)}`];
  const question = query.slice(12, 12 + asked.qname.length + 4);
  const flags = [0x81, 0x80 | (found?.rcode ?? Rcode.SERVFAIL)];
  const counts = [1, found?.answerCount ?? 0, 0, 0].flatMap(u16);
  return octets(u16(idOf(query)), flags, counts, question, found?.body ?? []);
}

/** Makes the scripted upstream answer for the zone. */
export function serveZone({ scripted }: LiveFixture): void {
  scripted.udpScript = (query) => query.reply(answer(query.bytes));
}

/** A file with the trust anchor of the zone above. */
export const anchorsOf = (fixture: LiveFixture): string => fixture.write('anchors', `${ORG.ds}\n`);

const answerTo = (name: string) => (fixture: LiveFixture) => {
  serveZone(fixture);
  return fixture.answerTo(name);
};

const validated = (fixture: LiveFixture): KeyValues => ({
  'dns.pools': fixture.pools(fixture.scripted),
  'dns.dnssec_trust_anchors': anchorsOf(fixture),
  'dns.dnssec_enabled': true,
});

export const DNSSEC_KEYS: readonly LiveKey[] = [
  {
    key: 'dns.dnssec_enabled',
    to: true,
    alongside: (fixture) => ({ ...validated(fixture), 'dns.dnssec_enabled': false }),
    observe: answerTo('forged.example.org'),
    before: ['192.0.2.66'],
    after: Rcode.SERVFAIL,
  },
  {
    key: 'dns.dnssec_trust_anchors',
    to: anchorsOf,
    alongside: (fixture) => ({ ...validated(fixture), 'dns.dnssec_trust_anchors': '' }),
    observe: answerTo('www.example.org'),
    before: Rcode.SERVFAIL,
    after: ['192.0.2.1'],
  },
  {
    key: 'dns.dnssec_negative_trust_anchors',
    to: ['forged.example.org'],
    alongside: validated,
    observe: answerTo('forged.example.org'),
    before: Rcode.SERVFAIL,
    after: ['192.0.2.66'],
  },
];
