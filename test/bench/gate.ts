// The correctness gate: a server is measured only if it really blocks listed names and answers all other names.
import { probe } from './servers/answer-probe.ts';

const SAMPLE_SIZE = 12;
const PROBE_TIMEOUT_MS = 2000;

/** Throws an Error that lists every wrong answer. */
export async function checkGate(
  port: number,
  listed: readonly string[],
  allowed: readonly string[],
): Promise<void> {
  const faults: string[] = [];
  for (const name of spread(listed, SAMPLE_SIZE)) {
    const outcome = await probe(port, name, PROBE_TIMEOUT_MS);
    if (outcome !== 'blocked') faults.push(`${name} is listed but ${outcome}`);
  }
  for (const name of spread(allowed, SAMPLE_SIZE)) {
    const outcome = await probe(port, name, PROBE_TIMEOUT_MS);
    if (outcome !== 'allowed') faults.push(`${name} is not listed but ${outcome}`);
  }
  if (faults.length > 0) throw new Error(`pass the gate: ${faults.join('; ')}`);
}

/** Up to `count` items, evenly spaced, including the first and the last. */
export function spread<Item>(items: readonly Item[], count: number): Item[] {
  if (items.length <= count) return [...items];
  return Array.from(
    { length: count },
    (_, index) => items[Math.round((index * (items.length - 1)) / (count - 1))]!,
  );
}
