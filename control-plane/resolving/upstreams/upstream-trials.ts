/**
 * Runs tests of servers that users request before they add servers to a pool; only one at a time, because each test
 * needs a thread.
 */
import { parseUpstream } from '../../../config/upstream-url.ts';
import type { UpstreamTest, UpstreamTestResult } from '../../../shared/api/upstreams-api.ts';
import type { UpstreamTrial } from '../../../shared/threads/upstream-test-messages.ts';
import { invalid, overloaded } from '../../api/api-error.ts';
import { Semaphore } from '../../storage/concurrency/semaphore.ts';
import { tryUpstreams, type UpstreamTestParts } from './upstream-test.ts';

/** Maximum number of tests that wait while another one is running. */
const MAX_WAITING = 2;
const RETRY_SECS = 5;
const EXPECTED = 'expected an upstream server such as 192.0.2.53 or tls://dns.example.org@192.0.2.53';

/** Runs tests of servers. */
export class UpstreamTrials {
  private readonly parts: () => UpstreamTestParts;
  private readonly turns = new Semaphore(1);
  private count = 0;

  /** `parts` must return the current settings. */
  constructor(parts: () => UpstreamTestParts) {
    this.parts = parts;
  }

  /** Tests each server; throws 400 for strings that are not servers, and 503 if too many tests are waiting. */
  async run({ servers }: UpstreamTest, gone: AbortSignal): Promise<UpstreamTestResult[]> {
    const faults = servers.flatMap((server, at) =>
      parseUpstream(server) === undefined ? [{ path: `servers.${at}`, message: EXPECTED }] : [],
    );
    if (faults.length > 0) throw invalid(faults);
    if (this.count > MAX_WAITING) throw overloaded('too many tests are waiting; try again later', RETRY_SECS);
    this.count++;
    try {
      return await this.turns.run(async () => {
        const trials = await tryUpstreams(servers, { ...this.parts(), asksSignatures: true }, gone);
        return servers.map((address) => toResult(address, trials.get(address)!));
      });
    } finally {
      this.count--;
    }
  }
}

function toResult(address: string, trial: UpstreamTrial): UpstreamTestResult {
  const { fault, isReachable, latencyMs, signatures } = trial;
  return {
    address,
    reachable: isReachable,
    answers: fault === null,
    latency_ms: latencyMs === null ? null : Math.round(latencyMs * 1000) / 1000,
    dnssec: signatures ?? 'unknown',
    error: fault,
  };
}
