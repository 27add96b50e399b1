/** Answers and protections that Weir adds by default: each has a row with a switch. Pure. */
import { type ImportReason, importReason } from '../../../../shared/policy/reasons/import-reasons.ts';
import type { Values } from '../../../../config/layers.ts';
import type { ImportFormat } from '../../../../shared/api/imports-api.ts';
import type { ImportPlan, PlanItem, PlannedKey } from '../plan/import-plan.ts';

interface Protection {
  readonly key: string;
  readonly name: string;
  /** Explains the behaviour of Weir, and the effect of the checkbox. */
  readonly reason: ImportReason;
  /** Names that the protection affects; empty = any. */
  readonly domains: readonly string[];
  /** Format of a program that gives the same answers. */
  readonly sameIn?: ImportFormat;
}

const PROTECTIONS: readonly Protection[] = [
  {
    key: 'dns.rebinding_protection',
    name: 'private addresses in answers',
    reason: importReason('private_answers'),
    domains: [],
  },
  {
    key: 'dns.block_private_relay',
    name: 'iCloud Private Relay',
    reason: importReason('private_relay'),
    domains: ['mask.icloud.com', 'mask-h2.icloud.com'],
  },
  {
    key: 'dns.block_doh_canary',
    name: 'canary name of Firefox',
    reason: importReason('firefox_canary'),
    domains: ['use-application-dns.net'],
    sameIn: 'adguard_home',
  },
];

/** The plan, with a row for each protection that is enabled and not determined by the file. */
export function withProtections(plan: ImportPlan, current: Values): ImportPlan {
  // A hosts file only contains names, and does not come from another program.
  if (plan.format === 'hosts') return plan;
  const given = new Set(plan.keys.map(({ key }) => key));
  const items: PlanItem[] = [...plan.items];
  const keys: PlannedKey[] = [...plan.keys];
  for (const { key, name, reason, domains, sameIn } of PROTECTIONS) {
    if (given.has(key) || current[key] !== true || sameIn === plan.format) continue;
    const item = items.push({ kind: 'configuration', name, result: null, reason: null, domains }) - 1;
    keys.push({ key, value: false, items: [item], doubt: reason, isOwn: true });
  }
  return { ...plan, items, keys };
}
