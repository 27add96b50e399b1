/**
 * Checks the parser and the engine with real lists: compares rule counts with an independent count in awk, and the
 * decisions for up to 1,000 names sampled from each list with the documentation of its format. The lists are not part
 * of the project: they are in `$WEIR_BENCH_DATA/lists`, or beside the checkout, in one folder per format. Prints a
 * table and exits with 1 if there is a difference.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { PolicyMatcher } from '../../dns-worker/policy/policy-matcher.ts';
import type { OpenSnapshot } from '../../dns-worker/policy/open-snapshot.ts';
import { NOT_BLOCKED, isAllowing } from '../../dns-worker/policy/rule-match-memo.ts';
import { openSnapshot } from '../../dns-worker/policy/open-snapshot.ts';
import { compileLists, queryFor } from '../support/parts/test-lists.ts';
import { NOTHING_LIVE } from '../../control-plane/policy/change/runtime-state.ts';
import { NO_POLICY_ROWS } from '../../control-plane/policy/change/rows.ts';
import { buildSnapshot } from '../../control-plane/policy/snapshot/build/snapshot-builder.ts';

const SAMPLES = 1000;
const LOCAL =
  'localhost|localhost.localdomain|localhost4|localhost4.localdomain4|localhost6|localhost6.localdomain6|localdomain|local|broadcasthost|ip6-localhost|ip6-loopback|ip6-localnet|ip6-mcastprefix|ip6-allnodes|ip6-allrouters|ip6-allhosts';

/** awk programs that count the rules of a format (for Adblock lists, all lines except comments). */
const HOSTS_AWK = `
BEGIN { n = split("${LOCAL}", parts, "|"); for (i = 1; i <= n; i++) own[parts[i]] = 1 }
{ sub(/\\r$/, ""); sub(/^\\357\\273\\277/, "") }
$1 ~ /^(0|0\\.0\\.0\\.0|127\\.0\\.0\\.1|::|::0|::1)$/ {
  for (i = 2; i <= NF; i++) {
    if ($i ~ /^[#!;]/) break
    name = tolower($i); sub(/#.*/, "", name); sub(/\\.$/, "", name)
    if (name in own || name ~ /(^|\\.)[0-9]+$/ || name ~ /[\\/:\\[,]/ || name ~ /\\.\\./ || name == "") continue
    count++
  }
}
END { print count + 0 }`;
const PLAIN_AWK = `
{ sub(/\\r$/, ""); sub(/^\\357\\273\\277/, ""); sub(/^[ \\t]+/, "") }
/^$/ || /^[#!;]/ { next }
$1 ~ /^(0\\.0\\.0\\.0|127\\.0\\.0\\.1)$/ { next }
$1 ~ /^[0-9.]+$/ { if (split($1, part, ".") == 4 && part[1] < 256 && part[2] < 256 && part[3] < 256 && part[4] < 256) count++; next }
$1 ~ /\\./ { count++ }
END { print count + 0 }`;
const ADBLOCK_AWK = `
{ sub(/\\r$/, ""); sub(/^\\357\\273\\277/, ""); sub(/^[ \\t]+/, ""); sub(/[ \\t]+$/, "") }
/^$/ || /^!/ || /^\\[.*\\]$/ { next }
/^#/ && !/^#[@?$%]?#[^# ]/ { next }
{ count++ }
END { print count + 0 }`;
const AWK: Readonly<Record<string, string>> = {
  hosts: HOSTS_AWK,
  domains: PLAIN_AWK,
  wildcard: '/^\\*\\.[a-z0-9]/ { count++ } END { print count + 0 }',
  adblock: ADBLOCK_AWK,
  dnsmasq:
    '{ sub(/^\\357\\273\\277/, "") } /^(local|server|address)=\\/[^\\/]+\\/(#|0\\.0\\.0\\.0|127\\.0\\.0\\.1|::)?$/ { count++ } END { print count + 0 }',
  rpz: '!/^[;@$]/ && /[ \\t]CNAME[ \\t]/ { count++ } END { print count + 0 }',
  ips: '/^[0-9a-f.:]+$/ { count++ } END { print count + 0 }',
  regex: '{ sub(/\\r$/, "") } /^$/ || /^[#!]/ { next } { count++ } END { print count + 0 }',
  unbound: '/^local-zone:/ { count++ } END { print count + 0 }',
};

interface Expectation {
  readonly name: string;
  readonly match: 'blocked' | 'allowed' | 'none';
}

/** The syntax for which the awk programs count the rules of a file in this folder; null = not counted. */
function syntaxOf(folder: string, text: string): string | null {
  if (folder === 'allow' || folder === 'cname') {
    if (text.startsWith('{')) return null;
    return /^(?:@@)?\|\|/m.test(text) ? 'adblock' : 'domains';
  }
  return folder in AWK ? folder : null;
}

/**
 * Expected decisions, by the documentation, for names derived from a line; null if the line does not have the common
 * form.
 */
function expectations(
  syntax: string,
  line: string,
): { name: string; below: boolean; self: boolean; allow: boolean } | null {
  const NAME = '([a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_])?)';
  const match = (pattern: string): string | undefined => new RegExp(pattern).exec(line)?.[1];
  switch (syntax) {
    case 'hosts': {
      const name = match(`^(?:0\\.0\\.0\\.0|127\\.0\\.0\\.1|::1?)[ \\t]+${NAME}(?:[ \\t]|$)`);
      if (name === undefined || new RegExp(`^(?:${LOCAL})$`).test(name)) return null;
      return { name, self: true, below: false, allow: false };
    }
    case 'domains': {
      const name = match(`^${NAME}$`);
      return name === undefined || !name.includes('.')
        ? null
        : { name, self: true, below: false, allow: false };
    }
    case 'wildcard':
    case 'dnsmasq':
    case 'unbound': {
      const name = match(
        {
          wildcard: `^\\*\\.${NAME}$`,
          dnsmasq: `^(?:local|server|address)=/${NAME}/(?:#|127\\.0\\.0\\.1)?$`,
          unbound: `^local-zone: "${NAME}\\.?" always_null`,
        }[syntax],
      );
      return name === undefined ? null : { name, self: true, below: true, allow: false };
    }
    case 'rpz': {
      const wild = match(`^\\*\\.${NAME} +cname +\\.$`);
      const name = wild ?? match(`^${NAME} +cname +\\.$`);
      return name === undefined
        ? null
        : { name, self: wild === undefined, below: wild !== undefined, allow: false };
    }
    default: {
      const name = match(`^(?:@@)?\\|\\|${NAME}\\^$`);
      return name === undefined ? null : { name, self: true, below: true, allow: line.startsWith('@@') };
    }
  }
}

const isNumeric = (name: string): boolean => /(?:^|\.)\d+$/.test(name);

function parentsOf(name: string): string[] {
  const labels = name.split('.');
  return labels.map((_, index) => labels.slice(index).join('.'));
}

/**
 * Names from a list's common lines, with their expected decisions; names that unusual lines may affect are left out.
 */
function sample(syntax: string, text: string, isAllow: boolean): Expectation[] {
  const self = new Set<string>();
  const below = new Set<string>();
  const allowed = new Set<string>();
  const odd: string[] = [];
  const names: string[] = [];
  for (const raw of text.split('\n')) {
    const line = raw.trim().toLowerCase();
    if (line === '' || /^[!;]/.test(line)) continue;
    const found = expectations(syntax, line);
    if (found === null || isNumeric(found.name)) {
      if (syntax === 'adblock' && !line.startsWith('#')) odd.push(line);
      continue;
    }
    names.push(found.name);
    if (found.allow) allowed.add(found.name);
    if (found.self && !found.allow) self.add(found.name);
    if (found.below && !found.allow) below.add(found.name);
  }
  // A line in an unknown form may be an exception, or may disable a rule, for each name whose last two labels it
  // contains.
  const oddText = odd.filter((line) => line.startsWith('@@') || line.includes('badfilter')).join('\n');
  const oddBlocks = odd.some(
    (line) => line.startsWith('/') || /^\|{0,2}[^$]*\*/.test(line) || line.includes('^'),
  );
  const step = Math.max(1, Math.floor(names.length / (SAMPLES / 2)));
  const expected: Expectation[] = [];
  for (let at = 0; at < names.length && expected.length < SAMPLES; at += step) {
    for (const name of [names[at]!, `weir-check.${names[at]!}`]) {
      if (
        name.length > 250 ||
        parentsOf(name).some((parent) => parent.includes('.') && oddText.includes(parent))
      )
        continue;
      const parents = parentsOf(name);
      const isAllowed = parents.some((parent) => allowed.has(parent));
      const isListed = self.has(name) || parents.slice(1).some((parent) => below.has(parent));
      const match = isAllowed || (isListed && isAllow) ? 'allowed' : isListed ? 'blocked' : 'none';
      if (match === 'none' && oddBlocks) continue;
      expected.push({ name, match });
    }
  }
  return expected;
}

function matchOf(matcher: PolicyMatcher, snapshot: OpenSnapshot, name: string): Expectation['match'] {
  const query = queryFor(name, snapshot);
  const match = matcher.match(query, query, snapshot, 0);
  return match === NOT_BLOCKED ? 'none' : isAllowing(match) ? 'allowed' : 'blocked';
}

const home = process.env['WEIR_BENCH_DATA'] ?? join(import.meta.dirname, '../../../shared/data');
const root = join(home, 'lists');
if (!existsSync(root)) {
  process.stderr.write(`check lists: no lists at ${root}; set WEIR_BENCH_DATA\n`);
  process.exit(2);
}
function print(...columns: string[]): void {
  process.stdout.write(`${columns.join(' ')}\n`);
}

let faults = 0;
let checkedNames = 0;
print(
  'list'.padEnd(58),
  'rules'.padStart(8),
  'awk'.padStart(8),
  'invalid'.padStart(8),
  'skipped'.padStart(8),
  'names'.padStart(6),
  'wrong'.padStart(6),
);
for (const folder of readdirSync(root).sort()) {
  for (const file of readdirSync(join(root, folder)).sort()) {
    const path = join(root, folder, file);
    const bytes = file.endsWith('.gz') ? gunzipSync(readFileSync(path)) : readFileSync(path);
    const text = bytes.toString('utf8').replace(/^\ufeff/, '');
    const syntax = syntaxOf(folder, text);
    if (syntax === null) continue;
    const kind = folder === 'allow' ? ('allow' as const) : ('block' as const);
    const compiled = compileLists([{ text: bytes, reading: { kind, subdomains: false } }]);
    const { rules, invalidLines, skippedLines } = compiled.sources[0]!.statistics;
    const counted = Number(
      spawnSync('awk', [AWK[syntax]!], { input: bytes, encoding: 'utf8', env: { LC_ALL: 'C' } }).stdout,
    );
    const own = syntax === 'adblock' || syntax === 'regex' ? rules + invalidLines + skippedLines : rules;
    const row = { id: 1, name: file, kind, enabled: true, groupIds: [] };
    const rows = { ...NO_POLICY_ROWS, sources: [row] };
    const blocking = { enabled: true, mode: 'null_ip' as const, ttlSecs: 10, customIpv4: '', customIpv6: '' };
    // Ignores that a list is reported as unsuitable for blocking; its rules are still counted.
    const sources = compiled.sources.map((source) => ({
      ...source,
      statistics: { ...source.statistics, fault: null },
    }));
    const snapshot = openSnapshot(buildSnapshot(1, { ...compiled, sources }, rows, blocking, NOTHING_LIVE));
    const matcher = new PolicyMatcher();
    const samples = sample(syntax, text, kind === 'allow');
    const wrong = samples.filter(({ name, match }) => matchOf(matcher, snapshot, name) !== match);
    checkedNames += samples.length;
    const isWrong = counted !== own || wrong.length > 0;
    if (isWrong) faults++;
    print(
      `${folder}/${file}`.padEnd(58),
      String(own).padStart(8),
      String(counted).padStart(8),
      String(invalidLines).padStart(8),
      String(skippedLines).padStart(8),
      String(samples.length).padStart(6),
      String(wrong.length).padStart(6),
      isWrong ? `  DIFFERS ${JSON.stringify(wrong.slice(0, 3))}` : '',
    );
  }
}
print(`${checkedNames} names checked, ${faults} lists differ`);
process.exitCode = faults === 0 ? 0 : 1;
