/**
 * Days of queries of the household as Weir would have answered and logged them; the same seed generates the same days.
 */
import type { QueryLogRow } from '../../control-plane/query-log/rows/row.ts';
import { addressFromText } from '../../shared/net/ip.ts';
import { Rcode, RRType } from '../../shared/dns/iana.ts';
import { DnssecStatus, Protocol, QueryStatus } from '../../shared/query-log.ts';
import { seededRandom } from '../bench/material/random.ts';
import type { Random } from '../bench/material/random.ts';
import { question, response } from '../support/dns/built-messages.ts';
import { logRow, wireName } from '../support/parts/log-row.ts';
import type { RowInWords } from '../support/parts/log-row.ts';
import { drawQuestion, groupIdOf, HOUSEHOLD, rateOf } from './household.ts';
import type { AskedName, Device } from './household.ts';
import { BEDTIME, CHATTER, PRIZES, TELEMETRY } from './demo-rules.ts';
import { answerOf, isSigned, LISTED, LISTS } from './sites.ts';

/** Time span to generate. */
export interface MadeSpan {
  /** Unix milliseconds. */
  readonly fromMs: number;
  readonly toMs: number;
  /** Number of queries on an ordinary day. */
  readonly perDay: number;
  /** Upstream servers as configured. */
  readonly upstreams: readonly string[];
  readonly seed: number;
}

const STEP_MS = 60_000;
const STALE_SHARE = 0.02;
const CACHED_SHARE = 0.66;
const TIMEOUT_SHARE = 0.002;
const ENCRYPTED_SHARE = 0.7;
const TCP_SHARE = 0.01;
const NOTHING: Partial<RowInWords> = { rcode: Rcode.NOERROR, cached: false, upstream: null };

/** The rows in the order of their times; generated lazily, so that the caller can do other work in between. */
export function* madeRows({ fromMs, toMs, perDay, upstreams, seed }: MadeSpan): Generator<QueryLogRow> {
  const random = seededRandom(seed);
  for (let stepMs = fromMs; stepMs < toMs; stepMs += STEP_MS) {
    const lengthMs = Math.min(STEP_MS, toMs - stepMs);
    const at = new Date(stepMs);
    const asked = HOUSEHOLD.flatMap((device) => {
      const expected = (rateOf(device, at, perDay) * lengthMs) / 1000;
      // A device is idle in 60% of the steps; in the remaining steps it loads pages.
      const count = random() < 0.4 ? Math.floor((expected / 0.4) * 2 * random() + random()) : 0;
      return Array.from({ length: count }, () => ({ device, timeMs: stepMs + random() * lengthMs }));
    });
    asked.sort((one, other) => one.timeMs - other.timeMs);
    for (const { device, timeMs } of asked) yield rowOf(device, timeMs, upstreams, random);
  }
}

function rowOf(
  device: Device,
  timestampMs: number,
  upstreams: readonly string[],
  random: Random,
): QueryLogRow {
  const asked = drawQuestion(device, random);
  const blocked = blockOf(device, asked, new Date(timestampMs));
  const outcome = blocked ?? resolved(asked, upstreams, random);
  const isSlow = outcome.upstream !== null && outcome.upstream !== undefined;
  return logRow({
    timestampMs,
    client: addressFromText(device.address)!.subarray(12),
    groupId: groupIdOf(device.group),
    qname: wireName(asked.name),
    qtype: RRType[asked.qtype],
    protocol: protocolOf(device, random),
    responseTimeUs: Math.round(isSlow ? 4000 + 30_000 * random() ** 3 : 15 + 80 * random() ** 2),
    ...outcome,
  });
}

function protocolOf({ isEncrypted }: Device, random: Random): RowInWords['protocol'] {
  if (isEncrypted && random() < ENCRYPTED_SHARE) return random() < 0.6 ? Protocol.doh : Protocol.dot;
  return random() < TCP_SHARE ? Protocol.tcp : Protocol.udp;
}

/** Fields of the log row if policy blocks the question; null if it does not. */
function blockOf({ group }: Device, { name }: AskedName, at: Date): Partial<RowInWords> | null {
  const isBelow = (domain: string): boolean => name === domain || name.endsWith(`.${domain}`);
  const by = (
    status: keyof typeof QueryStatus,
    blockSource: string,
    blockRule: string,
  ): Partial<RowInWords> => ({
    ...NOTHING,
    status: QueryStatus[status],
    blockSource,
    blockRule,
  });
  const minute = at.getHours() * 60 + at.getMinutes();
  if (group === 'Children' && (minute >= BEDTIME.fromMinute || minute < BEDTIME.toMinute))
    return by('BLOCKED_SCHEDULE', BEDTIME.name, 'block_all');
  if (group === 'Children' && isBelow(PRIZES.domain))
    return by('BLOCKED_MANAGED', PRIZES.name, `*.${PRIZES.domain}`);
  if (TELEMETRY.names.test(name)) return by('BLOCKED_REGEX', TELEMETRY.name, TELEMETRY.pattern);
  if (group === 'Children' && isBelow(CHATTER.domains[0]))
    return by('BLOCKED_SERVICE', CHATTER.name, CHATTER.domains[0]);
  const lists = LISTS.filter((list) => LISTED[list].some(isBelow));
  if (lists[0] === undefined) return null;
  const domain = LISTED[lists[0]].find(isBelow)!;
  return {
    ...by('BLOCKED_LIST', lists[0], `||${domain}^`),
    lists: lists.map((list) => 1 + LISTS.indexOf(list)),
  };
}

function resolved(
  { name, qtype }: AskedName,
  upstreams: readonly string[],
  random: Random,
): Partial<RowInWords> {
  if (name.endsWith('.arpa')) return { ...NOTHING, status: QueryStatus.LOCAL };
  const { rcode, answers } = answerOf(name, RRType[qtype]);
  const asked = question(name, qtype);
  const records = response(asked, { answers }).subarray(12 + asked.qname.length + 4);
  const upstream = upstreams[random() < 0.7 ? 0 : upstreams.length - 1]!;
  const outcome = { ...NOTHING, rcode, answers: records };
  if (rcode === Rcode.SERVFAIL) {
    const dnssec = name.includes('expired') ? DnssecStatus.bogus : DnssecStatus.unchecked;
    return { ...outcome, status: QueryStatus.SERVFAIL, dnssec, upstream };
  }
  const dnssec = isSigned(name) ? DnssecStatus.secure : DnssecStatus.insecure;
  const draw = random();
  if (draw < CACHED_SHARE) return { ...outcome, status: QueryStatus.CACHED, cached: true, dnssec };
  if (draw < CACHED_SHARE + STALE_SHARE)
    return { ...outcome, status: QueryStatus.STALE, cached: true, dnssec };
  if (draw > 1 - TIMEOUT_SHARE)
    return { ...NOTHING, status: QueryStatus.TIMEOUT, rcode: Rcode.SERVFAIL, upstream };
  return { ...outcome, status: QueryStatus.ALLOWED, dnssec, upstream };
}
