/** Converts the body of a request to a local record in canonical form, or to errors of its fields. Pure. */
import type { LocalRecordUpdate } from '../../../shared/api/policy/local-records-api.ts';
import type { FieldProblem } from '../../../shared/api/problem-details.ts';
import { addressFromText, isMappedIpv4 } from '../../../shared/net/ip.ts';
import { canonicalDomain } from '../../../shared/policy/domain-rule.ts';
import { canonicalOwner, type LocalRecordType, readLocalValue } from '../../../shared/policy/local-record.ts';
import { invalid } from '../../api/api-error.ts';
import type { RecordFields } from './record-store.ts';

/** The name of a record, complete and in parts. */
type Name = Pick<RecordFields, 'hostname' | 'domain' | 'fqdn'>;

/**
 * The record in `body`; absent fields are taken from `before`, which is null for a new record. Throws 400 with every
 * invalid field. `localDomain` is appended to single-label names; '' = no domain.
 */
export function readRecord(
  given: LocalRecordUpdate,
  before: RecordFields | null,
  localDomain: string,
): RecordFields {
  const body = withoutRepeated(given, before);
  const problems: FieldProblem[] = [];
  const name = readName(body, before, localDomain, problems);
  const field = body.ip === undefined ? 'value' : 'ip';
  const value = body.ip ?? body.value ?? before?.value;
  if (body.ip !== undefined && body.value !== undefined)
    problems.push({ path: 'ip', message: 'expected either ip or value' });
  const type = body.record_type ?? typeOf(value, before);
  if (value === undefined) problems.push({ path: 'value', message: 'expected the value of the record' });
  if (type === undefined && body.ip !== undefined)
    problems.push({ path: 'ip', message: 'expected an IP address' });
  else if (type === undefined && value !== undefined)
    problems.push({ path: 'record_type', message: 'expected a type, because the value is not an address' });
  if (body.ip !== undefined && type !== undefined && type !== 'A' && type !== 'AAAA')
    problems.push({ path: 'ip', message: `expected value instead of ip for a record of type ${type}` });
  const read = value === undefined || type === undefined ? undefined : readLocalValue(type, value);
  if (read?.ok === false) problems.push({ path: field, message: `expected ${read.expected}` });
  if (problems.length === 0 && type === 'CNAME' && read?.ok === true && read.value === name?.fqdn)
    problems.push({ path: 'value', message: 'expected a name other than its own' });
  if (problems.length > 0 || name === undefined || read?.ok !== true || type === undefined)
    throw invalid(problems);
  const ttl = body.ttl ?? before?.ttl ?? 0;
  return {
    ...name,
    record_type: type,
    value: read.value,
    ttl,
    comment: body.comment ?? before?.comment ?? '',
  };
}

/**
 * If a record is read, edited and sent back, it contains its name and its value twice (in several fields), so unchanged
 * fields count as absent.
 */
function withoutRepeated(
  { ip, ...body }: LocalRecordUpdate,
  before: RecordFields | null,
): Omit<LocalRecordUpdate, 'ip'> & { ip?: string } {
  const given = Object.entries(body).filter(
    ([field, value]) => value !== before?.[field as keyof typeof body],
  );
  const isIpGiven = typeof ip === 'string' && ip !== before?.value;
  return { ...Object.fromEntries(given), ...(isIpGiven && { ip }) };
}

/** Type of the record. An address implies the type, and may change an A record to AAAA or the reverse. */
function typeOf(value: string | undefined, before: RecordFields | null): LocalRecordType | undefined {
  if (before !== null && before.record_type !== 'A' && before.record_type !== 'AAAA')
    return before.record_type;
  const address = value === undefined ? null : addressFromText(value.trim());
  if (address === null) return before?.record_type;
  return isMappedIpv4(address) ? 'A' : 'AAAA';
}

function readName(
  body: Pick<LocalRecordUpdate, 'fqdn' | 'hostname' | 'domain'>,
  before: RecordFields | null,
  localDomain: string,
  problems: FieldProblem[],
): Name | undefined {
  const { fqdn, hostname, domain } = body;
  if (fqdn === undefined && hostname === undefined && domain === undefined && before !== null) return before;
  if (fqdn !== undefined) {
    const owner = canonicalOwner(fqdn);
    if (hostname !== undefined || domain !== undefined) {
      problems.push({ path: 'fqdn', message: 'expected either fqdn, or hostname and domain' });
    } else if (owner === null) problems.push({ path: 'fqdn', message: 'expected a domain name' });
    return owner === null ? undefined : splitName(owner);
  }
  const host = hostname ?? before?.hostname;
  if (host === undefined || host.trim() === '') {
    problems.push({ path: 'hostname', message: 'expected a name' });
    return undefined;
  }
  return joinName(host.trim(), domain ?? before?.domain, localDomain, problems);
}

function joinName(
  host: string,
  domain: string | undefined,
  localDomain: string,
  problems: FieldProblem[],
): Name | undefined {
  const isSingleLabel = !host.replace(/\.$/u, '').includes('.') && addressFromText(host) === null;
  const zone = domain ?? (isSingleLabel ? localDomain : '');
  const canonicalZone = zone.trim() === '' ? '' : canonicalDomain(zone);
  if (canonicalZone === null) {
    problems.push({ path: 'domain', message: 'expected a domain name' });
    return undefined;
  }
  const owner = canonicalOwner(canonicalZone === '' ? host : `${host.replace(/\.$/u, '')}.${canonicalZone}`);
  if (owner === null) {
    problems.push({
      path: 'hostname',
      message: 'expected a domain name, or `*` for all names in the domain',
    });
    return undefined;
  }
  if (domain === undefined && canonicalZone === '') return splitName(owner);
  const hostname = canonicalZone === '' ? owner : owner.slice(0, -canonicalZone.length - 1);
  return { hostname, domain: canonicalZone, fqdn: owner };
}

/** Splits a name: the first label is the name of the host. */
export function splitName(fqdn: string): Name {
  const dot = fqdn.indexOf('.');
  return dot < 0
    ? { hostname: fqdn, domain: '', fqdn }
    : { hostname: fqdn.slice(0, dot), domain: fqdn.slice(dot + 1), fqdn };
}
