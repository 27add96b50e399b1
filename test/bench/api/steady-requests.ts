// Sends requests to a Weir server's API at a steady rate, even if responses are late, and measures their latency.
// Latency is measured from the time at which a request was due, so it includes waiting for earlier requests.
import { Agent, request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';

/** Open connections, fewer than Weir allows for a client network. */
const CONNECTIONS = 40;
const TIMEOUT_MS = 60_000;

/** A request to send. */
export interface ApiRequest {
  readonly method: string;
  /** Path without the API prefix. */
  readonly path: string;
  readonly body?: object;
}

/** A repeated request. */
export interface Step {
  /** Name in the report. */
  readonly name: string;
  readonly isChange: boolean;
  /** Builds the next request; null skips this step in this round. */
  ask(): ApiRequest | null;
  /** Called with the parsed body of the response; undefined if there is no body. */
  answered?(body: unknown): void;
}

/** Latencies of the requests of one step. */
export interface StepTimes {
  readonly step: Step;
  /** Latencies of successful requests, milliseconds. */
  readonly tookMs: number[];
  /** Errors and unexpected statuses. */
  readonly failures: string[];
  skipped: number;
}

/** The API to measure. */
export interface AskedApi {
  readonly port: number;
  readonly cookie: string;
}

/** Runs all steps in turn, `rounds` times, at `perSecond` requests per second. */
export async function askSteadily(
  api: AskedApi,
  steps: readonly Step[],
  rounds: number,
  perSecond: number,
): Promise<StepTimes[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  const all = steps.map((step): StepTimes => ({ step, tookMs: [], failures: [], skipped: 0 }));
  const underWay = new Set<Promise<void>>();
  const startedMs = performance.now();
  let turn = 0;
  try {
    for (let round = 0; round < rounds; round++)
      for (const times of all) {
        const dueMs = startedMs + (turn++ * 1000) / perSecond;
        const waitMs = dueMs - performance.now();
        if (waitMs > 0) await delay(waitMs);
        const asking = askOnce(agent, api, times, dueMs).finally(() => underWay.delete(asking));
        underWay.add(asking);
      }
    await Promise.all(underWay);
  } finally {
    agent.destroy();
  }
  return all;
}

/**
 * Runs each step `times` times, one request at a time, with at most `perSecond` requests per second; returns the
 * milliseconds of CPU time per request.
 */
export async function askAlone(
  api: AskedApi,
  steps: readonly Step[],
  { times, perSecond }: { readonly times: number; readonly perSecond: number },
  cpuMs: () => number,
): Promise<Map<Step, number>> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const spentMs = new Map(steps.map((step) => [step, 0]));
  const startedMs = performance.now();
  let turn = 0;
  try {
    for (let round = 0; round < times; round++)
      for (const step of steps) {
        const waitMs = startedMs + (turn++ * 1000) / perSecond - performance.now();
        if (waitMs > 0) await delay(waitMs);
        const before = cpuMs();
        await askOnce(agent, api, { step, tookMs: [], failures: [], skipped: 0 }, performance.now());
        spentMs.set(step, spentMs.get(step)! + (cpuMs() - before) / times);
      }
  } finally {
    agent.destroy();
  }
  return spentMs;
}

async function askOnce(agent: Agent, api: AskedApi, times: StepTimes, dueMs: number): Promise<void> {
  const asked = times.step.ask();
  if (asked === null) {
    times.skipped++;
    return;
  }
  try {
    const { status, text } = await call(agent, api, asked);
    if (status < 200 || status > 299) {
      times.failures.push(`${status} ${text.slice(0, 200)}`);
      return;
    }
    times.tookMs.push(performance.now() - dueMs);
    times.step.answered?.(text === '' ? undefined : JSON.parse(text));
  } catch (error) {
    times.failures.push(String(error));
  }
}

function call(
  agent: Agent,
  { port, cookie }: AskedApi,
  asked: ApiRequest,
): Promise<{ status: number; text: string }> {
  const body = asked.body === undefined ? undefined : JSON.stringify(asked.body);
  return new Promise((resolve, reject) => {
    const sent = request(
      {
        host: '127.0.0.1',
        port,
        agent,
        method: asked.method,
        path: `/api${asked.path}`,
        timeout: TIMEOUT_MS,
        headers: {
          cookie,
          ...(body !== undefined && {
            'content-type': 'application/json',
            'content-length': Buffer.byteLength(body),
          }),
        },
      },
      (response) => {
        const parts: Buffer[] = [];
        response.on('data', (part: Buffer) => parts.push(part));
        response.on('error', reject);
        response.on('end', () =>
          resolve({ status: response.statusCode!, text: Buffer.concat(parts).toString() }),
        );
      },
    );
    sent.on('timeout', () => sent.destroy(new Error(`no answer within ${TIMEOUT_MS} ms`)));
    sent.on('error', reject);
    sent.end(body);
  });
}
