/**
 * Entry point of the thread of one simulation: evaluates the questions of the query log with the active policy and with
 * a draft, at a low priority. The owner ends the thread when it has the answer or no longer needs it.
 */
import { getPriority, setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import type {
  FromSimulation,
  SimulationOrder,
  SimulationStart,
} from '../../shared/threads/simulation-messages.ts';
import { openSnapshot } from '../policy/open-snapshot.ts';
import { QuestionList } from '../simulate/question-list.ts';
import { Simulation } from '../simulate/simulation.ts';

/**
 * Niceness: lower priority than all threads that answer queries, and the same as the threads that read the whole log.
 */
const NICENESS = 9;
const MOST = 19;

const port = parentPort;
if (port === null) throw new Error('could not start the simulation: this file runs only as a worker thread');
const send = (message: FromSimulation): void => port.postMessage(message);

// Only on Linux, where the call affects only this thread.
if (process.platform === 'linux') setPriority(Math.min(getPriority() + NICENESS, MOST));

const start = workerData as SimulationStart;
const before = openSnapshot(start.before);
const after = openSnapshot(start.after, before);

port.on('message', ({ questions, limit }: SimulationOrder) => {
  const changes = new Simulation(new QuestionList(questions), before, after).run(limit);
  send({ type: 'simulated', changes });
});
send({ type: 'opened', checksAddresses: before.checksAddresses || after.checksAddresses });
