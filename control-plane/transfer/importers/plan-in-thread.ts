/** Reads an upload in a separate thread with limits on time and memory. */
import { Worker } from 'node:worker_threads';
import type { Logger } from '../../../shared/log.ts';
import { faultLine } from '../../../shared/api/client/faults/fault-text.ts';
import { reasonOf } from '../../../shared/errors.ts';
import { invalid } from '../../api/api-error.ts';
import type { ImportAnswer } from './import-thread.ts';
import type { ImportOrder } from './make-plan.ts';
import type { ImportPlan } from './plan/import-plan.ts';

const ENTRY = new URL('./import-thread.ts', import.meta.url);
/** Maximum JavaScript heap of the thread, MiB; file contents are outside of the heap. */
const HEAP_MIB = 384;
/** Time limit in milliseconds; the largest files take a tenth of this time. */
const LIMIT_MS = 20_000;

/** The plan of an upload; throws 400 if the file cannot be read. */
export async function planInThread(
  order: ImportOrder,
  logger: Logger,
  limitMs = LIMIT_MS,
): Promise<ImportPlan> {
  const answer = await askThread(order, limitMs);
  if ('plan' in answer) return answer.plan;
  // Unexpected errors are also logged: the file may be one that Weir should be able to read.
  if (!answer.isOfFile) logger.warn('import: could not read the file', { reason: answer.fault });
  const { fault: reason, isOfFile } = answer;
  throw invalid([{ path: '', message: isOfFile ? reason : faultLine('upload_unreadable', { reason }) }]);
}

async function askThread(order: ImportOrder, limitMs: number): Promise<ImportAnswer> {
  const worker = new Worker(ENTRY, {
    name: 'import',
    workerData: order,
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MIB },
  });
  const { promise, resolve } = Promise.withResolvers<ImportAnswer>();
  const timer = setTimeout(
    () => resolve({ fault: faultLine('upload_slow', { secs: limitMs / 1000 }), isOfFile: true }),
    limitMs,
  );
  worker.once('message', resolve);
  worker.once('error', (error: unknown) => resolve({ fault: reasonOf(error), isOfFile: false }));
  worker.once('exit', () => resolve({ fault: 'its thread ended', isOfFile: false }));
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    await worker.terminate();
  }
}
