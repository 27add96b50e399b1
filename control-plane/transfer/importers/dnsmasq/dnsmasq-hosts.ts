/** Hosts files that dnsmasq reads. Pure. */
import { importReason } from '../../../../shared/policy/reasons/import-reasons.ts';
import type { GeneratedLists } from '../plan/generated-lists.ts';
import { addHostsLine, addHostsRecords, readHostsLine } from '../plan/hosts-lines.ts';
import type { OwnNames } from '../plan/own-names.ts';
import type { PlanBuilder } from '../plan/plan-builder.ts';

/** Recipients of the lines of hosts files. */
export interface HostsFileParts {
  readonly builder: PlanBuilder;
  readonly lists: GeneratedLists;
  readonly names: OwnNames;
  readonly linesOf: (path: string) => readonly string[] | undefined;
  /** TTL of local records; undefined = Weir's default. */
  readonly ttlSecs: number | undefined;
  /** Domain that is added to single-label names; empty = none. */
  readonly domain: string;
  /** Collects the names that have records. */
  readonly shown: string[];
}

const OWN_MACHINE = /^(?:127\.|::1\s)/;
/** Maximum number of names for this machine in a file that is not a blocklist. */
const MAX_OWN_NAMES = 50;

/** Adds the records and denied names of a file. */
export function addHostsFile(parts: HostsFileParts, path: string): void {
  const { builder, names, linesOf, domain, ttlSecs, shown } = parts;
  const lines = linesOf(path);
  if (lines === undefined)
    return builder.notMapped('other', `addn-hosts=${path}`, importReason('not_in_upload'));
  // Systems map the machine's own name to a loopback address.
  const counted = path === '/etc/hosts' ? lines.filter((line) => !OWN_MACHINE.test(line)) : lines;
  const hasFewOwn = counted.filter((line) => OWN_MACHINE.test(line)).length <= MAX_OWN_NAMES;
  let others = 0;
  for (const line of counted) {
    const expanded = domain === '' ? line : expandedLine(line, domain);
    if (hasFewOwn && OWN_MACHINE.test(line)) addHostsRecords(builder, expanded, ttlSecs);
    else if (!addHostsLine(builder, names, expanded, null, ttlSecs)) {
      others++;
      continue;
    }
    shown.push(...(readHostsLine(expanded)?.names ?? []));
  }
  // An unknown line may contain anything, even a password.
  if (others > 0)
    builder.notMapped(
      'local_record',
      `${path}: ${others === 1 ? '1 line' : `${others} lines`}`,
      importReason('hidden_hosts_line'),
    );
}

/** Adds each name of a single label a second time with the domain. */
function expandedLine(line: string, domain: string): string {
  const [address = '', ...names] = line.replace(/#.*/, '').trim().split(/\s+/);
  return [
    address,
    ...names.flatMap((name) => (name.includes('.') ? [name] : [name, `${name}.${domain}`])),
  ].join(' ');
}
