/**
 * Sends many generated requests to every operation of an API in this process, or, with --at, of a running node. The
 * data of that node are lost; it must run with WEIR_AUTH_ENABLED=false. Usage: npm run fuzz -- api [--requests 20000]
 * [--seed 1] [--at http://127.0.0.1:8080]
 */
import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { text as readText } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Problem } from '../../../shared/api/problem-details.ts';
import { everyRoute } from '../../support/parts/every-route.ts';
import { RunningApi } from '../../support/parts/running-api.ts';
import type { TestAnswer, TestRequest } from '../../support/parts/running-api.ts';
import { openSuiteDatabase } from '../../support/parts/suite-database.ts';
import { runProperties } from './property-run.ts';
import type { AskedApi, PropertyOutcome } from './property-run.ts';

const { values } = parseArgs({
  options: {
    requests: { type: 'string', default: '20000' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    at: { type: 'string' },
  },
});

/** A longer wait means that the caller is locked out, not limited. */
const MAX_WAIT_SECS = 60;
const MAX_TRIES = 100;

/** The API of a node in another process. */
class NodeElsewhere implements AskedApi {
  readonly prefix = '/api';
  private readonly origin: string;

  constructor(origin: string) {
    this.origin = origin;
  }

  /** Repeats the request later if the rate limit of the node requires it. */
  async send(method: string, path: string, request: TestRequest = {}): Promise<TestAnswer> {
    for (let tries = 1; ; tries++) {
      const answer = await this.sendOnce(method, path, request);
      const retryAfterSecs = Number(answer.headers['retry-after']);
      if (!(retryAfterSecs > 0) || retryAfterSecs > MAX_WAIT_SECS || tries === MAX_TRIES) return answer;
      await sleep(retryAfterSecs * 1000);
    }
  }

  private async sendOnce(
    method: string,
    path: string,
    { raw, headers = {} }: TestRequest,
  ): Promise<TestAnswer> {
    const length = raw === undefined ? {} : { 'content-length': Buffer.byteLength(raw) };
    const fields = { ...headers, ...length };
    const outgoing = httpRequest(this.origin + path, { method, headers: fields, agent: false });
    const answered = once(outgoing, 'response');
    // The server may respond before it has received the whole body, and then does not read the rest.
    outgoing.on('error', () => undefined);
    outgoing.end(raw);
    const [response] = (await answered) as [IncomingMessage];
    const type = response.headers['content-type'] ?? '';
    // A stream of events does not end.
    const isEndless = type.startsWith('text/event-stream');
    if (isEndless) response.destroy();
    const text = isEndless ? '' : await readText(response);
    const body = /[/+]json/.test(type) && text !== '' ? (JSON.parse(text) as unknown) : undefined;
    return {
      status: response.statusCode!,
      headers: response.headers,
      text,
      body,
      get problem() {
        return Problem.parse(body);
      },
    };
  }
}

async function runHere(requests: number, seed: number): Promise<PropertyOutcome> {
  const suite = await openSuiteDatabase();
  const api = await RunningApi.start(suite.database, everyRoute());
  const outcome = await runProperties(api, requests, seed);
  await api.close();
  await suite.close();
  return outcome;
}

const startMs = performance.now();
const [count, seed] = [Number(values.requests), Number(values.seed)];
const { requests, statuses, faults } =
  values.at === undefined
    ? await runHere(count, seed)
    : await runProperties(new NodeElsewhere(values.at), count, seed);
const secs = ((performance.now() - startMs) / 1000).toFixed(1);
const kinds = Object.entries(statuses).map(([status, met]) => `${status}: ${met}`);
process.stdout.write(
  `${requests} requests, seed ${values.seed}, ${secs} s; ${kinds.join(', ')}; ${faults.length} faults\n`,
);
for (const fault of faults.slice(0, 50)) process.stdout.write(`${fault}\n`);
if (faults.length > 0) process.exitCode = 1;
