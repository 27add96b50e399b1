/** Shared memory of the workers: created by the control plane, so that it outlives their threads. */
import { CLIENT_SIGHTINGS_BYTES } from '../../shared/memory/sighting-layout.ts';
import { COUNTERS_BYTES } from '../../shared/memory/answer-counters.ts';
import { WorkerControl, type WorkerMemory } from '../../shared/threads/messages.ts';
import { createFirstServers } from '../../shared/memory/first-server-layout.ts';
import { MISS_RING_BYTES } from '../../shared/memory/miss-ring.ts';
import { logRingBytes } from '../../shared/query-log.ts';

/** Records in an answer thread's log ring: at 300,000 queries/s it fills up in 55 ms. */
const ANSWER_LOG_RECORDS = 16_384;
/** Records in a resolve thread's log ring: forwarding is an order of magnitude slower. */
const RESOLVE_LOG_RECORDS = 8192;

/** Creates the memory of one worker. */
export function createWorkerMemory(): WorkerMemory {
  return {
    control: new SharedArrayBuffer(WorkerControl.BYTES),
    missRing: new SharedArrayBuffer(MISS_RING_BYTES),
    answerLog: new SharedArrayBuffer(logRingBytes(ANSWER_LOG_RECORDS)),
    resolveLog: new SharedArrayBuffer(logRingBytes(RESOLVE_LOG_RECORDS)),
    answerCounters: new SharedArrayBuffer(COUNTERS_BYTES),
    resolveCounters: new SharedArrayBuffer(COUNTERS_BYTES),
    firstServers: createFirstServers(),
    answerClients: new SharedArrayBuffer(CLIENT_SIGHTINGS_BYTES),
    resolveClients: new SharedArrayBuffer(CLIENT_SIGHTINGS_BYTES),
  };
}
