/** Describes a set of local records for users: `name TYPE values`, and its source. */
import { nameToText } from '../../../../shared/dns/name.ts';
import { writeU16, writeU32 } from '../../../../shared/dns/wire.ts';
import { LocalNames, LocalSource } from '../../../../shared/snapshot/local-name-table.ts';
import { decodeStoredAnswers } from '../../../query-log/rows/stored-answers.ts';
import type { RuleDescription } from './rule-description.ts';

/** Describes the record set at a word offset of the table. */
export function describeLocalSet(table: SharedArrayBuffer, set: number): RuleDescription {
  const local = new LocalNames(table);
  const name = nameToText(local.bytes.subarray(local.nameAt(local.nodeOf(set))));
  const records = Array.from({ length: local.countOf(set) }, (_, index) => {
    const rdata = local.bytes.slice(
      local.rdataAt(set, index),
      local.rdataAt(set, index) + local.rdataLength(set, index),
    );
    return decodeStoredAnswers(name, answerRecord(local.typeOf(set), local.ttlSecsOf(set), rdata))[0];
  });
  const source = Object.keys(LocalSource)[local.sourceOf(set)]!;
  const id = local.recordIdOf(set);
  const data = records.map((record) => record?.data ?? '').join(', ');
  return {
    source,
    sources: [source],
    sourceIds: id === 0 ? [] : [id],
    rule: `${name} ${records[0]?.type ?? ''} ${data}`,
    line: null,
  };
}

/** A record whose owner is a compression pointer to the name in the question section. */
function answerRecord(type: number, ttlSecs: number, rdata: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(12 + rdata.length);
  writeU16(bytes, 0, 0xc00c);
  writeU16(bytes, 2, type);
  writeU16(bytes, 4, 1);
  writeU32(bytes, 6, ttlSecs);
  writeU16(bytes, 10, rdata.length);
  bytes.set(rdata, 12);
  return bytes;
}
