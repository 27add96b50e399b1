/** Creates the shared memory of the workers. It belongs to the control plane, so that it remains if a thread dies. */
import { CLIENT_SIGHTINGS_BYTES } from '../../shared/memory/sighting-layout.ts';
import { COUNTERS_BYTES } from '../../shared/memory/answer-counters.ts';
import { WorkerControl, type WorkerMemory } from '../../shared/threads/messages.ts';
import { createFirstServers } from '../../shared/memory/first-server-layout.ts';
import { MISS_RING_BYTES } from '../../shared/memory/miss-ring.ts';
import { logRingBytes } from '../../shared/query-log.ts';

/** Number of records in the log ring of an answer thread; at 300,000 queries/s, the ring fills up in 55 ms. */
const ANSWER_LOG_RECORDS = 16_384;
/** Number of records in the log ring of a resolve thread; forwarding is an order of magnitude slower. */
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
