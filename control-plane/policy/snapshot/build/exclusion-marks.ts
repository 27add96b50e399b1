/** Marks the addresses of excluded clients in the ranges of the client table. */
import { addressFromText, addressWord, isMappedIpv4 } from '../../../../shared/net/ip.ts';
import { ClientTableLayout as L } from '../../../../shared/snapshot/layout.ts';
import type { ExcludedAddress } from '../../change/runtime-state.ts';
import type { Ranges } from './access-marks.ts';

const LAST_IPV4 = 0xffff_ffffn;
const LAST_IPV6 = (1n << 128n) - 1n;
const HALF = 64n;

/** The marks by address family. An address that belongs to two clients has the exclusions of both. */
export function exclusionMarks(excluded: readonly ExcludedAddress[]): {
  readonly ipv4: Ranges<number>;
  readonly ipv6: Ranges<bigint>;
} {
  const ipv4 = new Map<bigint, number>();
  const ipv6 = new Map<bigint, number>();
  for (const { address, exclusion } of excluded) {
    const bytes = addressFromText(address);
    if (bytes === null) continue;
    const isIpv4 = isMappedIpv4(bytes);
    const [marks, at] = isIpv4 ? [ipv4, BigInt(addressWord(bytes, 12) >>> 0)] : [ipv6, numberOf(bytes)];
    marks.set(at, (marks.get(at) ?? 0) | (exclusion << L.EXCLUSION_SHIFT));
  }
  const { starts, records } = rangesOf(ipv4, LAST_IPV4);
  return { ipv4: { starts: starts.map(Number), records }, ipv6: rangesOf(ipv6, LAST_IPV6) };
}

function numberOf(bytes: Uint8Array): bigint {
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  return (view.getBigUint64(0) << HALF) | view.getBigUint64(8);
}

/** A range for each address, and another range without marks that starts after it. */
function rangesOf(marks: ReadonlyMap<bigint, number>, last: bigint): { starts: bigint[]; records: number[] } {
  const starts = [0n];
  const records = [0];
  const begin = (at: bigint, bits: number): void => {
    if (starts.at(-1) === at) records[records.length - 1] = bits;
    else {
      starts.push(at);
      records.push(bits);
    }
  };
  for (const [at, bits] of [...marks].sort(([a], [b]) => (a < b ? -1 : 1))) {
    begin(at, bits);
    if (at < last) begin(at + 1n, 0);
  }
  return { starts, records };
}
