// Requests to a Weir's API at a steady rate, whether answers come or not, and how long each took. A request counts
// from the moment at which it was due: one that waits for those before it has waited.
import { Agent, request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';

/** Connections that are kept, fewer than Weir grants a client network. */
const CONNECTIONS = 24;
const TIMEOUT_MS = 60_000;

/** A request to make. */
export interface Asked {
  readonly method: string;
  /** Path without the prefix of the API. */
  readonly path: string;
  readonly body?: object;
}

/** One thing that is asked again and again. */
export interface Step {
  /** Under which it is reported. */
  readonly name: string;
  readonly isChange: boolean;
  /** The next request; null skips its turn. */
  ask(): Asked | null;
  /** Called with the answer as JSON; undefined if it had no body. */
  answered?(body: unknown): void;
}

/** Times of the requests of one step. */
export interface StepTimes {
  readonly step: Step;
  /** Milliseconds, of those that succeeded. */
  readonly tookMs: number[];
  /** Outcomes other than success. */
  readonly failures: string[];
  skipped: number;
}

/** Whom to ask. */
export interface AskedApi {
  readonly port: number;
  readonly cookie: string;
}

/** Asks all steps in turn, `rounds` times, `perSecond` requests a second. */
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
 * Asks each step `times` times, one request after the other and `perSecond` at most; milliseconds of CPU that a request
 * took.
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
  asked: Asked,
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
