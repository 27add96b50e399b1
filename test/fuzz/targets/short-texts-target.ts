/**
 * Short texts from users and programs: addresses, networks, names, records, servers, query strings, anchors. An
 * accepted text is the same after it is parsed, formatted and parsed again. Where Node has a parser, both accept the
 * same texts.
 */
import { isIP } from 'node:net';
import { parseUpstream } from '../../../config/upstream-url.ts';
import { ApiError } from '../../../control-plane/api/api-error.ts';
import { readQuery } from '../../../control-plane/api/query-string.ts';
import { Params } from '../../../control-plane/web/compat/params.ts';
import { readUpstream } from '../../../control-plane/transfer/importers/plan/upstream-text.ts';
import { matchesWildcards } from '../../../control-plane/query-log/search/query-conditions.ts';
import { forwardedClient } from '../../../dns-worker/streams/forwarded-client.ts';
import { readDohTarget } from '../../../shared/dns/doh-target.ts';
import { nameFromText, nameToText } from '../../../shared/dns/name.ts';
import { readTrustAnchors, TrustAnchorError } from '../../../shared/dns/trust-anchors.ts';
import { networkFromText, networkToText } from '../../../shared/net/cidr.ts';
import { addressFromText, addressToText } from '../../../shared/net/ip.ts';
import { canonicalMac } from '../../../shared/net/mac.ts';
import { shownUrl } from '../../../shared/net/shown-url.ts';
import { canonicalDomain, canonicalDomainRule } from '../../../shared/policy/domain-rule.ts';
import { readLocalRecordLine } from '../../../shared/policy/local-record.ts';
import { hold, InputReader, octetsOf, shown } from '../target.ts';
import type { Target } from '../target.ts';

const TRUSTED = [networkFromText('192.0.2.0/24')!];

function address(text: string): void {
  const bytes = addressFromText(text);
  // Node also accepts an address with a zone, such as fe80::1%eth0.
  if (!text.includes('%'))
    hold((bytes !== null) === (isIP(text) !== 0), 'Node accepts or rejects the address differently');
  if (bytes === null) return;
  const written = addressToText(bytes);
  const again = addressFromText(written);
  hold(again !== null && Buffer.compare(again, bytes) === 0, 'an address changes when it is written');
}

function network(text: string): void {
  const read = networkFromText(text);
  if (read === null) return;
  const again = networkFromText(networkToText(read));
  hold(shown(again) === shown(read), 'a network changes when it is written');
}

function name(text: string): void {
  const wire = nameFromText(text);
  if (wire === null) return;
  hold(wire.length <= 255 && wire.at(-1) === 0, 'the name is too long, or has no end');
  const again = nameFromText(nameToText(wire));
  hold(again !== null && Buffer.compare(again, wire) === 0, 'a name changes when it is written');
}

function domain(text: string): void {
  const canonical = canonicalDomain(text);
  hold(canonical === null || canonicalDomain(canonical) === canonical, 'a canonical name is not canonical');
  hold(canonical === null || nameFromText(canonical) !== null, 'a canonical name has no wire form');
  const rule = canonicalDomainRule(text);
  hold(rule === null || canonicalDomainRule(rule) === rule, 'a canonical rule is not canonical');
  const mac = canonicalMac(text);
  hold(mac === null || canonicalMac(mac) === mac, 'a canonical MAC is not canonical');
}

function record(text: string): void {
  const read = readLocalRecordLine(text);
  if (typeof read === 'string') return;
  const again = readLocalRecordLine(`${read.fqdn} ${String(read.ttlSecs)} ${read.type} ${read.value}`);
  hold(shown(again) === shown(read), 'a record changes when it is written');
}

function server(text: string): void {
  const read = parseUpstream(text);
  hold(
    read === undefined || (read.port >= 0 && read.port <= 65535 && read.host !== ''),
    'a server has no port or host',
  );
  readUpstream(text);
}

function url(text: string): void {
  const shownText = shownUrl(text);
  if (!URL.canParse(text)) return;
  hold(shownUrl(shownText) === shownText, 'a masked URL changes when it is masked again');
  const { password } = new URL(text);
  hold(
    password.length < 4 || !URL.canParse(shownText) || new URL(shownText).password !== password,
    'a password is shown',
  );
}

function query(text: string): void {
  const params = new Params(text);
  for (const key of ['from', 'a', 'disk']) {
    const [number, time] = [params.int(key), params.time(key)];
    hold(number === undefined || Number.isSafeInteger(number), 'a number is not exact');
    hold(time === undefined || time >= 0, 'a time is out of range');
    hold(params.text(key) !== '' && typeof params.bool(key, true) === 'boolean', 'a parameter is empty');
  }
  readDohTarget('GET', text, '');
  try {
    const read = readQuery(text);
    hold(Object.getPrototypeOf(read) === Object.prototype, 'a parameter is a prototype');
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
  }
}

function wildcards(text: string): void {
  const [pattern = '', ...rest] = text.split('\n');
  const subject = rest.join('\n').slice(0, 80);
  const isFound = matchesWildcards(pattern)(subject);
  if (pattern.split('*').length > 4) return;
  const body = pattern
    .toLowerCase()
    .replaceAll(/[\\^$.+?()[\]{}|/]/gu, '\\$&')
    .replaceAll('*', '[^]*');
  hold(
    new RegExp(`^${body}$`, 'u').test(subject.toLowerCase()) === isFound,
    'an expression finds something else',
  );
}

function forwarded(text: string): void {
  const peer = addressFromText('192.0.2.1')!;
  const client = forwardedClient(peer, text, TRUSTED);
  hold(client.length === 16, 'the client has no address');
  hold(
    shown(forwardedClient(peer, `203.0.113.9, ${text}, 198.51.100.7`, TRUSTED)) ===
      shown(addressFromText('198.51.100.7')),
    "a client's own claim is trusted",
  );
}

function anchors(text: string): void {
  try {
    hold(
      readTrustAnchors(text).every(({ zone }) => zone.at(-1) === 0),
      'an anchor has no zone',
    );
  } catch (error) {
    if (!(error instanceof TrustAnchorError)) throw error;
  }
}

const KINDS = [
  address,
  network,
  name,
  domain,
  record,
  server,
  url,
  query,
  wildcards,
  forwarded,
  anchors,
] as const;

function run(input: Uint8Array): void {
  const reader = new InputReader(input);
  const check = reader.of(KINDS);
  check(Buffer.from(reader.rest()).toString('utf8'));
}

const of = (kind: (typeof KINDS)[number], text: string): Uint8Array =>
  octetsOf(String.fromCharCode(KINDS.indexOf(kind)) + text);

/** Seeds: a few texts of each kind. */
export const target: Target = {
  maxLength: 400,
  seeds: () => [
    ...['192.0.2.1', '2001:db8::1', '::ffff:192.0.2.1', '1::'].map((text) => of(address, text)),
    ...['192.0.2.0/24', '2001:db8::/32', '::ffff:0:0/96'].map((text) => of(network, text)),
    ...['www.example.org.', 'a\\.b.\\200c', '.'].map((text) => of(name, text)),
    ...['B\u00fccher.example', '*.example.org', '02-00-5e-00-00-01', '\u3002example'].map((text) =>
      of(domain, text),
    ),
    ...[
      'nas.home.arpa 60 IN A 192.0.2.5',
      'a.test TXT "x" "y"',
      'a.test SRV 1 2 53 b.test',
      '192.0.2.5 PTR a.test',
      'm.test MX 5 n.test',
    ].map((text) => of(record, text)),
    ...['tls://dns.example.org@192.0.2.53', 'https://[2001:db8::1]:8443/q?x', 'udp://192.0.2.53:53'].map(
      (text) => of(server, text),
    ),
    ...['https://me:hunter2@example.org/x?token=abc&y=1#z', 'no://u:p@x'].map((text) => of(url, text)),
    of(query, '/dns-query?dns=AAABAAABAAAAAAAAA3d3dwdleGFtcGxlA29yZwAAAQAB&a=%20+b&from=17.5'),
    of(wildcards, '*ads*.example\nwww.ads1.example'),
    of(forwarded, '203.0.113.7, 192.0.2.9'),
    of(anchors, '. IN DS 20326 8 2 (e06d44b80b8f1d39a95c0b0d7c65d08458e880409bbc683457104237c7f8ec8d) ; c\n'),
  ],
  dictionary: ['.', ':', '::', '/', '%', '@', '[', ']', '*', '\\', '&', '=', '://', 'xn--', '\u3002', ' IN '],
  run,
};
