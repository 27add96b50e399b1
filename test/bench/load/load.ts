// Job and report of a load generator, the same for each program.
import { z } from 'zod';

/** One run of load. */
export interface LoadJob {
  port: number;
  questionFile: string;
  secs: number;
  /** Undefined saturates the server within the window. */
  rateQps: number | undefined;
  /** Questions in flight at most. */
  window: number;
  sockets: number;
  /** Addresses to ask from in turn; undefined = 127.0.0.1 alone. */
  clients?: number | undefined;
  /** End after so many passes over the file; undefined ends by time. */
  passes: number | undefined;
  /** First serial number when every name shall be unique, else undefined. */
  firstSerial: number | undefined;
  /** Check that answers repeat their questions, and count the blocked ones. */
  check: boolean;
}

export const loadResultSchema = z.object({
  elapsedSecs: z.number(),
  sent: z.number(),
  answered: z.number(),
  lost: z.number(),
  /** Answers by rcode number. */
  rcodes: z.record(z.string(), z.number()),
  /** Undefined if the generator does not measure quantiles. */
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
  /** Only of a checking run: answers to another question, and blocked answers. */
  mismatched: z.number().optional(),
  blocked: z.number().optional(),
  /** Answers that came later than 5 ms after their question. */
  late: z.number().optional(),
  /** How long the generator was held up and sent nothing at a fixed rate: other work on its core. */
  slippedSecs: z.number().optional(),
  generatorCpuSecs: z.number().optional(),
});

export type LoadResult = z.infer<typeof loadResultSchema>;

export interface LoadGenerator {
  name: string;
  run(job: LoadJob): Promise<LoadResult>;
}
