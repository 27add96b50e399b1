/** Collects the inputs of policy other than its rows, for the current time or an earlier time. */
import type { Node } from './node.ts';
import type { Config } from '../../config/schema.ts';
import {
  type FindLivePolicy,
  type LeaseName,
  type LivePolicy,
  NOTHING_LIVE,
} from '../policy/change/runtime-state.ts';
import type { PolicyGrant, PolicyRows } from '../policy/change/rows.ts';
import { overridesAt } from '../filtering/schedules/overrides.ts';
import type { ScheduleEvaluator } from '../filtering/schedules/schedule-evaluator.ts';
import { COMPAT_NAME, configRecords, leaseNames, questionFlags } from '../policy/settings/derived.ts';
import { dnsSettings, settingsFlags } from '../policy/settings/dns-settings.ts';
import { grantRules } from '../policy/snapshot/build/grant-rules.ts';
import { nameRules } from '../policy/snapshot/build/name-rules-builder.ts';
import { ZoneNumbers } from '../policy/snapshot/build/zone-numbers.ts';
import { lanAddresses } from './system/lan-addresses.ts';

/** Runtime state that is not in any row: overrides, addresses of clients, local names, flags. */
export function livePolicy(node: Node, evaluator: ScheduleEvaluator, zones: ZoneNumbers): FindLivePolicy {
  return (rows) => {
    const { grants, ...evaluated } = evaluator.evaluate(rows);
    const clientAddresses = node.clients.follow(rows);
    return { ...timelessState(node, rows, grants, zones), ...evaluated, clientAddresses };
  };
}

/**
 * Runtime state at an earlier time, for the rows of that time. Where the earlier state is unknown, the current state is
 * used.
 */
export function liveAt(node: Node, rows: PolicyRows, momentMs: number): LivePolicy {
  const grants = rows.grants.filter(
    ({ createdMs, untilMs }) => createdMs <= momentMs && (untilMs === null || momentMs < untilMs),
  );
  return {
    ...timelessState(node, rows, grants, new ZoneNumbers()),
    nowMs: momentMs,
    overrides: overridesAt(rows, momentMs),
    clientAddresses: node.clients.addressesOf(rows.macClients),
  };
}

function timelessState(
  node: Node,
  rows: PolicyRows,
  grants: readonly PolicyGrant[],
  zones: ZoneNumbers,
): LivePolicy {
  const { clients } = node;
  const addressesOf = (mac: string): readonly string[] => clients.addressesOfMac(mac);
  const config = node.configuration.current();
  const settings = dnsSettings(config);
  const { configRecords: records, leases } = localSources(node, settings.local_domain);
  return {
    ...NOTHING_LIVE,
    findClients: (names) => clients.locateNamed(names),
    names: nameRules(rows, settings, config, zones, grantRules(grants, addressesOf)),
    configRecords: records,
    // Uses the configuration from the start of the process, because a change of `server.alt_compat` only takes effect
    // after a restart.
    leases: [...leases, ...compatNames(node.config)],
    access: node.access.current(rows),
    excludedAddresses: clients.excludedAddresses(rows.excludedClients),
    questionFlags: questionFlags(config) | settingsFlags(settings),
  };
}

/** Local names that are not in the database. Host names of leases without a domain are placed below `localDomain`. */
export function localSources(
  { configuration, leases }: Node,
  localDomain: string,
): Pick<LivePolicy, 'configRecords' | 'leases'> {
  return {
    configRecords: configRecords(configuration.current()),
    leases: leaseNames(leases.all(), localDomain),
  };
}

/**
 * Points `pi.hole` to this machine if it serves the compatibility API. A user's record for this name takes precedence.
 */
function compatNames({ server }: Config): LeaseName[] {
  if (!server.alt_compat) return [];
  const { bind_address: listening } = server;
  const inLan = lanAddresses(listening)
    .filter(({ kind }) => kind !== 'link_local')
    .map(({ address }) => address);
  const addresses = inLan.length > 0 ? inLan : listening.filter((one) => one !== '0.0.0.0' && one !== '::');
  return addresses.map((address) => ({ address, fqdn: COMPAT_NAME }));
}
