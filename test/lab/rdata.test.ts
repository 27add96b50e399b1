/**
 * Validation of RDATA compared with BIND's zone parser: both must accept the same records.
 *
 * @needs bind9-utils
 */
import { describe, expect, test } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { hasValidForm } from '../../dns-worker/resolve/response/rdata-form.ts';
import { rdataLayout } from '../../dns-worker/resolve/response/rdata-layout.ts';
import { RRClass, rrTypeName } from '../../shared/dns/iana.ts';
import { octets } from '../support/dns/built-messages.ts';
import { RDATA_SAMPLES } from '../support/dns/rdata-samples.ts';
import { requireProgram } from '../support/parts/programs.ts';

const checker = requireProgram('named-checkzone');

/** Maximum number of damaged variants of a sample, spread over its length. */
const MAX_VARIANTS = 12;
/**
 * Type numbers of WKS, X25 and NXT: BIND checks the ports of WKS, the digits of X25 and the bitmap of NXT; Weir does
 * not, because these types are obsolete.
 */
const DIFFERS: readonly number[] = [11, 19, 30];
/** Options with which BIND checks each record separately, not the zone as a whole. */
const EACH_BY_ITSELF = [
  '-i',
  'none',
  ...['k', 'n', 'm', 'M', 'S', 'r', 'T', 'W'].flatMap((it) => [`-${it}`, 'ignore']),
];
/** Records of the apex, which make the zone valid; the records to check follow, one per line. */
const APEX = ['$TTL 60', '@ SOA ns.test. host.test. 1 2 3 4 5', '@ NS ns.test.'];

/** The sample, truncated at various places, and with an extra byte. */
function* variants(sample: Uint8Array): Generator<Uint8Array> {
  yield sample;
  yield octets(sample, [1]);
  const step = Math.max(1, Math.ceil(sample.length / MAX_VARIANTS));
  for (let length = sample.length - 1; length > 0; length -= step) yield sample.subarray(0, length);
}

/** Which records BIND accepts. BIND continues after a record that it rejects, and reports its line. */
function takenByBind(type: number, rdata: readonly Uint8Array[]): boolean[] {
  const records = rdata.map(
    (bytes, i) =>
      `n${String(i)} TYPE${String(type)} \\# ${String(bytes.length)} ${Buffer.from(bytes).toString('hex')}`,
  );
  const input = [...APEX, ...records, ''].join('\n');
  const { status, stdout, stderr } = spawnSync(checker, [...EACH_BY_ITSELF, 'example', '-'], { input });
  const refused = new Set(
    [...`${String(stdout)}${String(stderr)}`.matchAll(/:(\d+): near /g)].map(([, line]) => Number(line)),
  );
  expect({ type, refuses: status !== 0 }).toEqual({ type, refuses: refused.size > 0 });
  return rdata.map((_, i) => !refused.has(APEX.length + 1 + i));
}

describe('hasValidForm()', () => {
  const opaque = RDATA_SAMPLES.filter(([type]) => rdataLayout(type) === undefined && !DIFFERS.includes(type));
  test.each(opaque.map(([type, samples]) => [rrTypeName(type), type, samples] as const))(
    'accepts the same %s RDATA as BIND',
    (_name, type, samples) => {
      const all = samples.flatMap((sample) => [...variants(Uint8Array.from(Buffer.from(sample, 'hex')))]);
      const taken = takenByBind(type, all);
      for (const [i, rdata] of all.entries()) {
        const hexadecimal = Buffer.from(rdata).toString('hex');
        const takes = hasValidForm(type, RRClass.IN, rdata, 0, rdata.length);
        expect({ hexadecimal, takes }).toEqual({ hexadecimal, takes: taken[i] });
      }
    },
  );
});
