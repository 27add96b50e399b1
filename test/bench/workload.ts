// Schema of a workload file, and the reader of the files in `workloads/`. A workload defines questions, rate and
// duration, but not the servers and their configuration, except their query logs.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';

const WORKLOADS_DIR = join(import.meta.dirname, 'workloads');

const mixedQuestions = z.strictObject({
  kind: z.literal('mix'),
  count: z.int().positive(),
  blockedShare: z.number().min(0).max(1),
});

const uniqueQuestions = z.strictObject({ kind: z.literal('unique'), count: z.int().positive() });

/** Share of the questions that are for new names; all others are answered from the cache. */
const partlyUniqueQuestions = z.strictObject({
  kind: z.literal('partly-unique'),
  count: z.int().positive(),
  uniqueShare: z.number().min(0).max(1),
});

const distinctQuestions = z.strictObject({ kind: z.literal('distinct'), count: z.int().positive() });

const workloadSchema = z.strictObject({
  name: z.string().regex(/^[a-z0-9-]+$/),
  about: z.string().min(1),
  questions: z.discriminatedUnion('kind', [
    mixedQuestions,
    uniqueQuestions,
    partlyUniqueQuestions,
    distinctQuestions,
  ]),
  warmupPasses: z.int().min(0).max(10),
  load: z.strictObject({
    secs: z.number().positive(),
    rateQps: z.number().positive().optional(),
    window: z.int().positive(),
    sockets: z.int().positive(),
    clients: z.int().positive().optional(),
  }),
  upstream: z
    .strictObject({
      delayMs: z.number().min(0).default(0),
      transport: z.enum(['udp', 'tls']).default('udp'),
    })
    .default({ delayMs: 0, transport: 'udp' }),
  settleMs: z.int().min(0),
  weirQueryLog: z.boolean(),
  peerQueryLog: z.boolean(),
});

/** Behaviour of the upstream. */
export type UpstreamManner = z.infer<typeof workloadSchema>['upstream'];

/** A workload file. `settleMs`: time to wait after the load until the log is written, before CPU time is read. */
export type Workload = z.infer<typeof workloadSchema>;

/** Checks the text of a workload file; throws an Error with the file and every invalid key. */
export function parseWorkload(text: string, file: string): Workload {
  const parsed = workloadSchema.safeParse(JSON.parse(text));
  if (!parsed.success) throw new Error(`read workload ${file}: ${z.prettifyError(parsed.error)}`);
  return parsed.data;
}

/** All workloads of the repository, by name. */
export function readWorkloads(): Workload[] {
  return readdirSync(WORKLOADS_DIR)
    .filter((file) => file.endsWith('.json'))
    .map((file) => parseWorkload(readFileSync(join(WORKLOADS_DIR, file), 'utf8'), file))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}
