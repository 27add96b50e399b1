/**
 * The encrypted resolvers of this server, for discovery by clients of plain DNS (RFC 9462 section 4): SVCB records,
 * with the addresses of their target in the additional section. These addresses are the local records of the target, or
 * without such records the addresses in the certificate, by which clients verify that the encrypted resolver is the
 * same server (section 4.2).
 */
import { RRClass, RRType } from '../../shared/dns/iana.ts';
import { Header, QUESTION_TAIL_SIZE, skipName, writeU16, writeU32 } from '../../shared/dns/wire.ts';
import { QueryStatus } from '../../shared/query-log.ts';
import { ParseOutcome, parseQuery } from '../query/parse-query.ts';
import { Query, StageResult, type StageResultCode } from '../query/query.ts';
import type { OpenSnapshot } from '../policy/open-snapshot.ts';
import type { ServerIdentity } from '../policy/server-identity.ts';
import { answerRecords } from './block-answer.ts';
import { LOCAL_ZONE_TTL_SECS, noData, RESOLVER_ARPA } from './local-zones.ts';

const IPV4_SIZE = 4;
/** Size of the priority before the target. */
const TARGET_AT = 2;

/** Answers a query for `_dns.resolver.arpa SVCB`; NODATA if there is no encrypted listener. */
export function designate(
  query: Query,
  snapshot: OpenSnapshot,
  { designated, designatedAddresses }: ServerIdentity,
): StageResultCode {
  const [first] = designated;
  if (first === undefined) return noData(query, RESOLVER_ARPA);
  const target = first.subarray(TARGET_AT, skipName(first, TARGET_AT, first.length));
  const local = localAddresses(target, snapshot);
  const addresses = local.length > 0 ? local : designatedAddresses;
  query.status = QueryStatus.LOCAL;
  answerRecords(
    query,
    designated,
    LOCAL_ZONE_TTL_SECS,
    addresses.map((address) => addressRecord(target, address)),
  );
  return StageResult.ANSWERED;
}

/** The addresses of a name among the local records. */
function localAddresses(name: Uint8Array, { local, rules }: OpenSnapshot): Uint8Array[] {
  if (local.nodeCount === 0) return [];
  const message = new Uint8Array(Header.SIZE + name.length + QUESTION_TAIL_SIZE);
  writeU16(message, Header.QDCOUNT, 1);
  message.set(name, Header.SIZE);
  const asked = new Query();
  asked.begin(message, 0, message.length, message.length);
  if (parseQuery(asked, rules.seedLow, rules.seedHigh) !== ParseOutcome.OK) return [];
  const node = local.find(asked.hashLow[0]!, asked.hashHigh[0]!, asked.qname, 0, asked.qnameLength);
  if (node === 0) return [];
  return [RRType.A, RRType.AAAA].flatMap((type) => {
    const set = local.setOf(node, type);
    return Array.from({ length: set === 0 ? 0 : local.countOf(set) }, (_, index) => {
      const at = local.rdataAt(set, index);
      return local.bytes.slice(at, at + local.rdataLength(set, index));
    });
  });
}

/** An A or AAAA record in wire form. */
function addressRecord(owner: Uint8Array, address: Uint8Array): Uint8Array {
  const fields = new Uint8Array(10);
  writeU16(fields, 0, address.length === IPV4_SIZE ? RRType.A : RRType.AAAA);
  writeU16(fields, 2, RRClass.IN);
  writeU32(fields, 4, LOCAL_ZONE_TTL_SECS);
  writeU16(fields, 8, address.length);
  return Uint8Array.from([...owner, ...fields, ...address]);
}
