/**
 * Entry of the thread of one simulation: judges the questions of the query log by the active policy and by a draft, at
 * a low priority. The owner ends the thread when it has the answer or no longer wants it.
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

/** Lower than all that answers, as the readers of the whole log. */
const NICENESS = 9;
const MOST = 19;

const port = parentPort;
if (port === null) throw new Error('start simulation: this file runs only as a worker thread');
const send = (message: FromSimulation): void => port.postMessage(message);

// Only on Linux is this the priority of the thread alone.
if (process.platform === 'linux') setPriority(Math.min(getPriority() + NICENESS, MOST));

const start = workerData as SimulationStart;
const before = openSnapshot(start.before);
const after = openSnapshot(start.after, before);

port.on('message', ({ questions, limit }: SimulationOrder) => {
  const changes = new Simulation(new QuestionList(questions), before, after).run(limit);
  send({ type: 'simulated', changes });
});
send({ type: 'opened', judgesAddresses: before.judgesAddresses || after.judgesAddresses });
