/**
 * Test hook: with WEIR_FAULT_INJECTION=1 the parent process may break a DNS thread over the IPC channel, to
 * see it replaced. Without the switch, or without a channel, there is nothing to speak to.
 */
import type { ThreadRole } from '../../shared/messages.ts';
import type { WorkerSupervisor } from './supervisor.ts';

/** What a test sends. */
interface FaultRequest {
  readonly worker: number;
  readonly role: ThreadRole;
  readonly fault: 'exit' | 'throw' | 'hang';
}

/** Obeys requests of the parent process from now on. */
export function obeyFaultRequests(supervisor: WorkerSupervisor): void {
  process.on('message', (request: FaultRequest) => {
    supervisor.injectFault(request.worker, request.role, request.fault);
  });
}
