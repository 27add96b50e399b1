/** RDATA beside BIND's reader of records (bind9-utils), where it is installed: both take and refuse the same. */
import { describe, expect, test } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { hasValidForm } from '../../dns-worker/resolve/response/rdata-form.ts';
import { rdataLayout } from '../../dns-worker/resolve/response/rdata-layout.ts';
import { RRClass, rrTypeName } from '../../shared/dns/iana.ts';
import { findProgram } from '../support/dns/authority.ts';
import { octets } from '../support/dns/built-messages.ts';
import { RDATA_SAMPLES } from '../support/dns/rdata-samples.ts';

const checker = findProgram('named-rrchecker');

/** At most so many ways to spoil a sample, spread over its length: each one is a process. */
const MOST_VARIANTS = 12;
/** NXT's bitmap, WKS's ports and the digits of X25: of no use today, BIND looks into them, Weir does not. */
const DIFFERS: readonly number[] = [11, 19, 30];

/** The sample, as it is cut off at places all over it, and with an octet more. */
function* variants(sample: Uint8Array): Generator<Uint8Array> {
  yield sample;
  yield octets(sample, [1]);
  const step = Math.max(1, Math.ceil(sample.length / MOST_VARIANTS));
  for (let length = sample.length - 1; length > 0; length -= step) yield sample.subarray(0, length);
}

(checker === null ? describe.skip : describe)('hasValidForm()', () => {
  const opaque = RDATA_SAMPLES.filter(([type]) => rdataLayout(type) === undefined && !DIFFERS.includes(type));
  test.each(opaque.map(([type, samples]) => [rrTypeName(type), type, samples] as const))(
    'hasValidForm() takes the %s that BIND takes',
    (_name, type, samples) => {
      for (const sample of samples) {
        for (const rdata of variants(Uint8Array.from(Buffer.from(sample, 'hex')))) {
          const hexadecimal = Buffer.from(rdata).toString('hex');
          const input = `in TYPE${String(type)} \\# ${String(rdata.length)} ${hexadecimal}\n`;
          const { status } = spawnSync(checker!, { input });
          const takes = hasValidForm(type, RRClass.IN, rdata, 0, rdata.length);
          expect({ hexadecimal, takes }).toEqual({ hexadecimal, takes: status === 0 });
        }
      }
    },
  );
});
