// The upstream behind every server: answers everything with a fixed record, TTL one day, and tells how much it was
// asked, which is how the harness knows whether a server's cache really was warm. Runs on the generator's core.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { NativeTools } from '../native-tools.ts';
import type { Child } from '../process/child.ts';
import { lastLines, startChild } from '../process/child.ts';
import { probe } from './answer-probe.ts';

const COUNT_PATIENCE_MS = 2000;

export interface Upstream {
  name: string;
  port: number;
  /** How many questions it has been asked since it started. */
  questionCount(): Promise<number>;
  stop(): Promise<void>;
}

/** Starts the upstream: the C program where it could be built, else one of this folder on Node. */
export async function startUpstream(
  native: NativeTools | undefined,
  port: number,
  core: number,
  dir: string,
): Promise<Upstream> {
  const launch =
    native === undefined
      ? { command: process.execPath, args: [join(import.meta.dirname, 'node-upstream.ts'), String(port)] }
      : { command: native.echo, args: ['answer', String(port)] };
  const child = await startChild(launch, [core], join(dir, 'upstream.log'));
  while ((await probe(port, 'ready.example.com')) !== 'allowed') {
    if (child.ended() !== undefined) throw new Error(`start upstream: ${lastLines(child)}`);
    await delay(20);
  }
  return {
    name: native === undefined ? 'node-upstream' : 'dns-echo answer',
    port,
    questionCount: async () => askCount(child),
    stop: async () => child.stop(),
  };
}

/** On SIGUSR1 the upstream writes its count as one more line of its log. */
async function askCount(child: Child): Promise<number> {
  const before = lines(child.logFile).length;
  process.kill(child.pid, 'SIGUSR1');
  for (let waitedMs = 0; waitedMs < COUNT_PATIENCE_MS; waitedMs += 5) {
    const now = lines(child.logFile);
    if (now.length > before) return Number(now.at(-1));
    await delay(5);
  }
  throw new Error(`ask upstream for its count: no answer in ${COUNT_PATIENCE_MS} ms`);
}

function lines(file: string): string[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '');
}
