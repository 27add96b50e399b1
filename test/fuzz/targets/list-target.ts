/**
 * The parser of filter lists: the rules do not depend on how the bytes are split, no rule is broader than its line, and
 * a line with an unknown modifier gives no rule.
 */
import { ListParser } from '../../../control-plane/policy/compile/parse/parse-list.ts';
import type { ListReading } from '../../../control-plane/policy/compile/parse/line-rules.ts';
import type { SpecialLine } from '../../../control-plane/policy/compile/parse/adblock-rule.ts';
import { INHERITED_KINDS, RuleKind } from '../../../shared/snapshot/rule-table.ts';
import { addressFromText } from '../../../shared/net/ip.ts';
import { hold, InputReader, octetsOf, shown } from '../target.ts';
import type { Target } from '../target.ts';

/** Result of parsing a list. */
interface Reading {
  readonly names: { readonly name: string; readonly kind: number; readonly line: number }[];
  readonly specials: { readonly rule: SpecialLine; readonly line: number }[];
  readonly text: string;
  readonly isList: boolean;
}

const READINGS: readonly ListReading[] = [
  { kind: 'block', subdomains: false },
  { kind: 'block', subdomains: true },
  { kind: 'allow', subdomains: false },
];
const BELOW = RuleKind.BLOCK_BELOW | RuleKind.ALLOW_BELOW;
/** Characters by which a line can match more names than the name that it contains. */
const WIDE = /\|\||\*|^[\s\p{Cc}]*\.|[/@"\s=:]\.|=\/|local-zone|local-data|:\/\/|\|/iu;

function read(list: Uint8Array, reading: ListReading, sizes: readonly number[]): Reading {
  const names: Reading['names'] = [];
  const specials: Reading['specials'] = [];
  const badFilters: unknown[] = [];
  const parser = new ListParser(
    reading,
    (bytes, start, end, kind, line) => {
      names.push({ name: Buffer.from(bytes.subarray(start, end)).toString('latin1'), kind, line });
    },
    {
      special: (rule, line) => {
        specials.push({ rule, line });
        return null;
      },
      badFilter: (badFilter) => {
        badFilters.push(badFilter);
        return true;
      },
    },
  );
  for (let at = 0, turn = 0; at < list.length; turn++) {
    const end = Math.min(list.length, at + sizes[turn % sizes.length]!);
    parser.push(list.slice(at, end));
    at = end;
  }
  const statistics = parser.end();
  const isList = statistics.fault?.code !== 'not_a_list';
  return { names, specials, isList, text: shown([names, specials, badFilters, statistics]) };
}

function run(input: Uint8Array): void {
  const reader = new InputReader(input);
  const reading = reader.of(READINGS);
  const size = 1 + reader.octet();
  const list = reader.rest();
  const whole = read(list, reading, [Math.max(1, list.length)]);
  const parts = read(list, reading, [size, 1, 7, 1024]);
  hold(parts.text === whole.text, 'the rules depend on how the bytes are split');
  const lines = Buffer.from(list).toString('latin1').split('\n');
  for (const { name, kind, line } of whole.names) {
    const text = lines[line - 1];
    hold(text !== undefined, 'a rule has the number of a missing line');
    check(name, kind, text, reading, lines);
  }
  withUnknownModifier(lines, reading);
}

function check(
  name: string,
  kind: number,
  line: string,
  { subdomains }: ListReading,
  lines: readonly string[],
): void {
  if (addressFromText(name.replace(/\/\d+$/u, '')) !== null) return;
  hold(name.length <= 253 && /^[^\s.][^\s]*$/u.test(name), 'a rule is not a name');
  // The parser converts other letters to ASCII, and full-width letters and letters with diacritics to plain letters.
  const isAscii = /^[\0-\x7f]*$/u.test(line);
  // A rule for the names below the data of a zone may have its name from another line.
  const isBelowData = (kind & BELOW) !== 0 && lines.some((one) => one.toLowerCase().includes(name));
  hold(
    !isAscii || isBelowData || line.toLowerCase().includes(name.toLowerCase()),
    'a rule has a name that its line does not have',
  );
  if ((kind & INHERITED_KINDS) !== 0 && !subdomains)
    hold(WIDE.test(line), 'a rule covers subdomains that its line does not include');
}

/** A rule with an unknown part must not be used as if the part were missing. */
function withUnknownModifier(lines: readonly string[], reading: ListReading): void {
  for (const line of lines.slice(0, 8)) {
    const text = line.trim();
    if (!/^(?:@@)?\|\|[^$\s\p{Cc}#!]+\^$/u.test(text)) continue;
    const { names, specials } = read(octetsOf(`${text}$weir-unknown\n`), reading, [4096]);
    hold(names.length === 0 && specials.length === 0, 'an unknown modifier is ignored');
  }
}

const LISTS = [
  '# hosts\n0.0.0.0 ads.example.org tracker.example.org # both\n::1 localhost\n127.0.0.1\tc.example\n',
  'ads.example.org\n*.wild.example.org\n.dot.example.org\n192.0.2.1\n2001:db8::/32\n',
  '! Title: x\n||ads.example.org^\n@@||good.example.org^\n||a.example^$important,dnstype=A|AAAA\n||b.example^$client=192.0.2.1\n',
  '||c*.example.org^\n/^ads[0-9]+\\./\n|d.example^\n||e.example^$badfilter\n||f.example^$dnsrewrite=NOERROR;A;192.0.2.7\n',
  'address=/dns.example/0.0.0.0\nserver=/srv.example/\nlocal=/loc.example/\nlocal-zone: "z.example" always_nxdomain\nlocal-data: "y.example A 0.0.0.0"\n',
  '$TTL 60\n@ SOA localhost. root.localhost. 1 2 3 4 5\n  NS localhost.\nrpz.example CNAME .\n*.rpz.example CNAME .\n',
  '^ads\\d+\\.example\\.org$\n(^|\\.)track\\.example$\n[a-z]+\\.ads\\.\n',
  '\ufeffads.example.org\r\nexample.com##.banner\n||g.example^$denyallow=h.g.example\n||i.example^$ctag=x\n',
];

/** Seeds: a list of each format. */
export const target: Target = {
  maxLength: 3000,
  isSlow: true,
  seeds: () => LISTS.map((list, i) => octetsOf(String.fromCharCode(i % 3, 5) + list)),
  dictionary: [
    '||',
    '@@||',
    '^$',
    '*.',
    '0.0.0.0 ',
    '\n',
    '\r\n',
    ',',
    '|',
    '~',
    'dnstype=',
    'client=',
    'denyallow=',
    'important',
    'dnsrewrite=',
    '$',
    '#',
    '\\',
    '::',
    '/',
    'CNAME .',
    'xn--',
  ],
  run,
};
