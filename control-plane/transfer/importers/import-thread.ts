/**
 * Entry point of the thread that reads one upload and then ends: files of other programs may need much time or memory.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { reasonOf } from '../../../shared/errors.ts';
import { ImportFault } from './files/import-fault.ts';
import { type ImportOrder, makePlan } from './make-plan.ts';
import type { ImportPlan } from './plan/import-plan.ts';

/** Message of the thread: a plan, or the reason why there is none; `isOfFile` if the file is at fault. */
export type ImportAnswer =
  { readonly plan: ImportPlan } | { readonly fault: string; readonly isOfFile: boolean };

async function answer(): Promise<ImportAnswer> {
  try {
    return { plan: await makePlan(workerData as ImportOrder) };
  } catch (error) {
    return { fault: reasonOf(error), isOfFile: error instanceof ImportFault };
  }
}

parentPort?.postMessage(await answer());
