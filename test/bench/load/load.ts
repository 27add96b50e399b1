// Job and report of a load generator, in the same form for each program.
import { z } from 'zod';

/** One run of load. */
export interface LoadJob {
  port: number;
  questionFile: string;
  secs: number;
  /** Queries per second; if undefined, the generator keeps `window` queries in flight, which saturates the server. */
  rateQps: number | undefined;
  /** Maximum number of questions in flight. */
  window: number;
  sockets: number;
  /** Source addresses, used in turn; undefined = only 127.0.0.1. */
  clients?: number | undefined;
  /** Number of passes over the file after which the run ends; if undefined, the run ends by time. */
  passes: number | undefined;
  /** First serial number if every name must be unique; undefined if not. */
  firstSerial: number | undefined;
  /** Checks that answers match their questions, and counts the blocked answers. */
  check: boolean;
}

export const loadResultSchema = z.object({
  elapsedSecs: z.number(),
  sent: z.number(),
  answered: z.number(),
  lost: z.number(),
  /** Number of answers by response code. */
  rcodes: z.record(z.string(), z.number()),
  /** Latency in microseconds; undefined if the generator does not measure quantiles. */
  latencyUs: z
    .object({
      mean: z.number(),
      p50: z.number(),
      p90: z.number(),
      p99: z.number(),
      p999: z.number(),
      max: z.number(),
    })
    .optional(),
  /** Only with `check`: mismatched answers, and blocked answers. */
  mismatched: z.number().optional(),
  blocked: z.number().optional(),
  /** Answers with a latency of more than 5 ms. */
  late: z.number().optional(),
  /** Time in which a generator with a fixed rate sent nothing because of other work on its core. */
  slippedSecs: z.number().optional(),
  generatorCpuSecs: z.number().optional(),
});

export type LoadResult = z.infer<typeof loadResultSchema>;

export interface LoadGenerator {
  name: string;
  run(job: LoadJob): Promise<LoadResult>;
}
