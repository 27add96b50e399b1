/** Exclusions of clients and domains from Pi-hole's log and statistics. Pure. */
import { importReason, joinReasons } from '../../../../shared/policy/reasons/import-reasons.ts';
import { addressFromText } from '../../../../shared/net/ip.ts';
import { canonicalDomain } from '../../../../shared/policy/domain-rule.ts';
import type { PlanBuilder } from '../plan/plan-builder.ts';
import type { PiholeKeys } from './pihole-settings.ts';

const IS_HIDDEN = importReason('pihole_hidden');
const LOCALHOST = ['127.0.0.1', '::1'];
/** A regular expression that matches a single text, and whether a prefix may precede it. */
const ONE_TEXT = /^(\^|\(\^\|\\\.\)|\(\\\.\|\^\)|\\\.)((?:[\w:-]|\\\.)+)\$$/;

/**
 * Adds the exclusions; `unfiltered` returns the group for clients for which nothing is blocked, created at the first
 * call.
 */
export function mapExclusions(builder: PlanBuilder, keys: PiholeKeys, unfiltered: () => string): void {
  mapDomains(builder, keys.excludedDomains ?? []);
  for (const expression of keys.excludedClients ?? []) mapClient(builder, expression);
  if (keys.ignoresLocalhost !== true) return;
  // Pi-hole does not process such queries at all, so it does not block them either.
  for (const address of LOCALHOST) {
    const item = builder.item('client', `${address} (dns.ignoreLocalhost)`);
    exclude(builder, { address, group: unfiltered() }, item);
  }
}

function mapDomains(builder: PlanBuilder, expressions: readonly string[]): void {
  const names: string[] = [];
  for (const expression of expressions) {
    const [, start, text = ''] = ONE_TEXT.exec(expression) ?? [];
    const name = canonicalDomain(text.replaceAll('\\.', '.'));
    const from = `excludeDomains ${expression}`;
    if (name === null || start === undefined) {
      builder.notMapped('configuration', from, importReason('excludes_subdomains'));
      continue;
    }
    names.push(name);
    const covered = start.includes('|')
      ? importReason('pihole_subdomains')
      : importReason('pihole_subdomains_too');
    builder.differs('configuration', from, joinReasons(IS_HIDDEN, covered), [name]);
  }
  if (names.length === 0) return;
  const from = 'webserver.api.excludeDomains';
  builder.key('database.log_excluded_domains', names, from);
  builder.key('database.stats_excluded_domains', names, from);
}

function mapClient(builder: PlanBuilder, expression: string): void {
  const [, start, text = ''] = ONE_TEXT.exec(expression) ?? [];
  const address = text.replaceAll('\\.', '.');
  const from = `excludeClients ${expression}`;
  if (start !== '^' || addressFromText(address) === null)
    return builder.notMapped('client', from, importReason('pihole_exclude_manually'));
  exclude(builder, { address, group: null }, builder.item('client', from, IS_HIDDEN));
}

function exclude(
  builder: PlanBuilder,
  { address, group }: { readonly address: string; readonly group: string | null },
  item: number,
): void {
  const client = { mac: null, ip: address, key: null, name: null, group };
  builder.client({ ...client, excludeFromLog: true, excludeFromStats: true }, item);
}

/** A regular expression that matches exactly one text, as in version 5. */
export function exactly(text: string): string {
  return `^${text.replaceAll('.', '\\.')}$`;
}
