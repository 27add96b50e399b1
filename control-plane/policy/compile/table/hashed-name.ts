/**
 * Converts names to the form that lookups in special rules and the rule table need, for code outside the DNS threads.
 */
import { hashName, nameFromText } from '../../../../shared/dns/name.ts';
import type { HashedName } from '../../../../shared/snapshot/special-matcher.ts';
import type { TableSeeds } from './rule-table-builder.ts';

/** The name with the hashes of itself and its parents; null if `text` is not a name. */
export function hashedName(text: string, seeds: TableSeeds): HashedName | null {
  const qname = nameFromText(text);
  if (qname === null) return null;
  const labels: number[] = [];
  for (let at = 0; qname[at] !== 0; at += qname[at]! + 1) labels.push(at);
  const hashLow = new Int32Array(labels.length);
  const hashHigh = new Int32Array(labels.length);
  const hash = { low: 0, high: 0 };
  for (const [label, at] of labels.entries()) {
    hashName(qname, at, seeds.low, seeds.high, hash);
    hashLow[label] = hash.low;
    hashHigh[label] = hash.high;
  }
  const labelCount = labels.length;
  return {
    qname,
    qnameLength: qname.length,
    labelAt: Uint8Array.from(labels),
    labelCount,
    hashLow,
    hashHigh,
  };
}
