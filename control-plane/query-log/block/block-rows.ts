/**
 * Converts the queries of a stored block to the rows that the log writer received, so that small blocks can be merged
 * into one.
 */
import { nameFromText } from '../../../shared/dns/name.ts';
import { DnssecStatus, Protocol, QueryStatus } from '../../../shared/query-log.ts';
import { ADDRESS_SIZE, addressFromText } from '../../../shared/net/ip.ts';
import type { RepeatedClient } from './client-dictionary.ts';
import { emptyRow, type LoggedRule, type QueryLogRow, UNKNOWN_ANSWER } from '../rows/row.ts';
import type { BlockReader } from './block-reader.ts';
import { type BlockHead, DamagedBlock, type HeadRule } from './block-layout.ts';

interface StoredName {
  readonly wire: Uint8Array;
  readonly rule: LoggedRule | null;
  /** Start of the rule's name in `wire`. */
  readonly ruleOffset: number;
}

/** Calls `take` for each query in order; the same row object is reused. @throws {DamagedBlock} */
export function forEachRow(block: BlockReader, take: (row: QueryLogRow, timestampUs: number) => void): void {
  const names = storedNames(block);
  const addresses = block.head.clients.map(([address]) => addressOf(address));
  const columns = {
    times: block.times(),
    nameOf: block.nameOf(),
    clientOf: block.clientOf(),
    outcomeOf: block.outcomeOf(),
    responseTimes: block.responseTimes(),
    answers: block.answers(),
  };
  const row = emptyRow();
  for (let index = 0; index < block.head.rows; index++) {
    const name = names[columns.nameOf[index]!]!;
    const client = columns.clientOf[index]!;
    const outcome = block.head.outcomes[columns.outcomeOf[index]!]!;
    const records = columns.answers?.recordsOf(index) ?? null;
    layOut(row, name, addresses[client]!, records);
    row.timestampMs = columns.times[index]! / 1000;
    row.groupId = block.head.clients[client]![1];
    row.clientId = block.head.clients[client]![4] ?? 0;
    row.qtype = outcome[0];
    row.status = QueryStatus[outcome[1]];
    row.rcode = outcome[2];
    row.protocol = Protocol[outcome[3]];
    row.dnssec = DnssecStatus[outcome[4]];
    row.cached = outcome[5];
    row.upstream = outcome[6];
    row.answerType = outcome[8] ?? UNKNOWN_ANSWER;
    row.extendedError = outcome[9] ?? -1;
    row.origin = outcome[10] ?? null;
    row.responseTimeUs = columns.responseTimes[index]!;
    take(row, columns.times[index]!);
  }
}

/** Calls `take` for each entry of the repeats, in the order of the rows. @throws {DamagedBlock} */
export function forEachRepeat(
  { clients, repeats }: BlockHead,
  take: (row: number, client: RepeatedClient, queries: number) => void,
): void {
  repeats?.rows.forEach((row, entry) => {
    const [address, groupId, , , clientId = 0] = clients[repeats.clients[entry]!]!;
    take(row, { address: addressOf(address), groupId, clientId }, repeats.queries[entry]!);
  });
}

/** Writes address, name and answers of a query to the row's memory. */
function layOut(row: QueryLogRow, name: StoredName, address: Uint8Array, records: Buffer | null): void {
  const answersAt = ADDRESS_SIZE + name.wire.length;
  const needed = answersAt + (records?.length ?? 0);
  if (row.bytes.length < needed) row.bytes = new Uint8Array(needed * 2);
  row.bytes.set(address, 0);
  row.bytes.set(name.wire, ADDRESS_SIZE);
  if (records !== null) row.bytes.set(records, answersAt);
  row.client.length = ADDRESS_SIZE;
  row.qname.at = ADDRESS_SIZE;
  row.qname.length = name.wire.length;
  row.rule = name.rule;
  row.ruleName.at = ADDRESS_SIZE + name.ruleOffset;
  row.ruleName.length = name.wire.length - name.ruleOffset;
  // The text of the rule already contains the alias.
  row.alias.length = 0;
  row.answers.at = answersAt;
  row.answers.length = records?.length ?? 0;
}

function storedNames(block: BlockReader): StoredName[] {
  const { texts, starts, rules, offsets } = block.names();
  const ruleObjects = block.head.rules.map(toLoggedRule);
  return Array.from(rules, (rulePlace, place) => {
    const text = texts.toString('latin1', starts[place], starts[place + 1]! - 1);
    const wire = wireOf(text);
    const rule = rulePlace === 0 ? null : ruleObjects[rulePlace - 1]!;
    const ruleOffset = rule?.atName === true ? wire.length - wireOf(text.slice(offsets[place])).length : 0;
    return { wire, rule, ruleOffset };
  });
}

function wireOf(text: string): Uint8Array {
  const wire = nameFromText(text);
  if (wire === null) throw new DamagedBlock(`could not read a block: ${JSON.stringify(text)} is not a name`);
  return wire;
}

function addressOf(text: string): Uint8Array {
  const address = addressFromText(text);
  if (address === null)
    throw new DamagedBlock(`could not read a block: ${JSON.stringify(text)} is not an address`);
  return address;
}

function toLoggedRule([source, before, atName, after, lists = []]: HeadRule): LoggedRule {
  return { source, before, atName, after, lists };
}
