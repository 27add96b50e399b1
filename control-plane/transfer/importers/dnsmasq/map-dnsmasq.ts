/** Maps the files of dnsmasq, or a single hosts file, to a plan of Weir's entities. */
import { itemName } from '../../../../shared/policy/reasons/item-names.ts';
import { importReason } from '../../../../shared/policy/reasons/import-reasons.ts';
import { contentLines, decodeText } from '../files/decode-text.ts';
import { fileAt, type FileSet } from '../files/file-set.ts';
import { importFault } from '../files/import-fault.ts';
import { ONLY_TEXT } from '../files/open-upload.ts';
import { GeneratedLists } from '../plan/generated-lists.ts';
import { addHostsLine, readHostsLine } from '../plan/hosts-lines.ts';
import type { ImportPlan } from '../plan/import-plan.ts';
import { OwnNames } from '../plan/own-names.ts';
import { PlanBuilder } from '../plan/plan-builder.ts';
import { PlannedPools } from '../plan/planned-pools.ts';
import { readUpstream } from '../plan/upstream-text.ts';
import { type DnsmasqOption, readDnsmasq } from './dnsmasq-options.ts';
import { mapOptions } from './map-options.ts';

/** Maps the options of all files. */
export function mapDnsmasq(files: FileSet): ImportPlan {
  const builder = new PlanBuilder();
  const lists = new GeneratedLists(builder, 'dnsmasq: rules', 'dnsmasq-rules');
  const names = new OwnNames(builder, lists);
  const linesOf = (path: string): string[] | undefined => {
    const content = fileAt(files, path.replace(/^\/+/, '')) ?? fileAt(files, path.split('/').at(-1) ?? path);
    return content === undefined ? undefined : contentLines(content);
  };
  const options = readDnsmasq(files);
  // dnsmasq reads the machine's own hosts file by default.
  const isReading =
    fileAt(files, 'etc/hosts') !== undefined && options.every(({ name }) => name !== 'no-hosts');
  const hosts = isReading ? [{ name: 'addn-hosts', value: '/etc/hosts' }] : [];
  const { servers, strategy } = mapOptions({ builder, lists, names, linesOf }, [
    ...hosts,
    ...options,
    ...systemServers(builder, files, options),
  ]);
  if (options.every(({ name }) => name !== 'log-queries'))
    builder.differs('other', itemName('query_log'), importReason('dnsmasq_query_log'), []);
  builder.differs('other', itemName('reserved_names'), importReason('dnsmasq_reserved_names'), [
    'localhost',
    'local',
    'home.arpa',
    'test',
    'invalid',
    'onion',
    'resolver.arpa',
  ]);
  names.finish();
  lists.finish();
  const pools = new PlannedPools(builder, readUpstream);
  pools.add('dnsmasq', strategy, servers);
  pools.finish('server');
  return builder.finish('dnsmasq');
}

/** The servers in the machine's resolv.conf, which dnsmasq also queries. */
function systemServers(
  builder: PlanBuilder,
  files: FileSet,
  options: readonly DnsmasqOption[],
): DnsmasqOption[] {
  if (options.some(({ name }) => name === 'no-resolv' || name === 'resolv-file')) return [];
  const path = '/etc/resolv.conf';
  if (fileAt(files, path.slice(1)) !== undefined) return [{ name: 'resolv-file', value: path }];
  builder.notMapped('configuration', path, importReason('dnsmasq_servers_file'));
  return [];
}

/** Whether the upload is a hosts file: every line except comments must have the form of a line of a hosts file. */
export function isHosts(files: FileSet): boolean {
  const lines = contentLines(hostsFile(files)).slice(0, 1000);
  return lines.length > 0 && lines.every((line) => readHostsLine(line) !== null);
}

/** Maps the lines of a hosts file: to records, or to denied names if the address means blocking. */
export function mapHosts(files: FileSet): ImportPlan {
  const lines = decodeText(hostsFile(files) ?? Buffer.alloc(0)).split('\n');
  const others = lines.flatMap((line, index) => (isOther(line) ? [index + 1] : []));
  const known = lines.filter((line) => readHostsLine(line) !== null);
  if (others.length > known.length) throw importFault('not_hosts', { count: others.length });
  const builder = new PlanBuilder();
  const lists = new GeneratedLists(builder, 'hosts file', 'hosts');
  const names = new OwnNames(builder, lists);
  for (const line of known) addHostsLine(builder, names, line, null);
  // Only the number of an unknown line is shown, because its text may be anything, even a password.
  for (const number of others)
    builder.notMapped('local_record', itemName('line', { number }), importReason('not_address_with_names'));
  names.finish();
  lists.finish();
  return builder.finish('hosts');
}

/** Whether a line is neither empty, nor a comment, nor an entry of a hosts file. */
function isOther(line: string): boolean {
  const text = line.trim();
  return text !== '' && !text.startsWith('#') && readHostsLine(line) === null;
}

function hostsFile(files: FileSet): Buffer | undefined {
  return files.get(ONLY_TEXT) ?? fileAt(files, 'hosts');
}
