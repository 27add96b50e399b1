/**
 * The batched system calls of UDP, for suites that depend on them. If the calls cannot be loaded, the suites are
 * skipped.
 */
import { describe } from '@jest/globals';
import { loadNativeCalls } from '../../../dns-worker/listeners/native-calls.ts';
import type { NativeCalls } from '../../../dns-worker/listeners/native-calls.ts';

const native = loadNativeCalls();

/** `describe()` for suites of the calls. Machines without them use node:dgram. */
export const describeCalls = 'calls' in native ? describe : describe.skip;

/** The system calls, only for tests inside `describeCalls`. */
export const systemCalls = ('calls' in native ? native.calls : undefined) as NativeCalls;
