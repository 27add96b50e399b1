/**
 * Entry point of the thread that explains a query from the query log with an earlier version of policy, using the
 * stages of the DNS threads. It has no upstreams and no upstream answers: past answers cannot be requested again.
 */
import { parentPort, workerData } from 'node:worker_threads';
import type { FromPast, PastQuestion } from '../../shared/threads/past-messages.ts';
import { openSnapshot } from '../policy/open-snapshot.ts';
import { SimulatedSide } from '../simulate/simulated-side.ts';
import { ExplanationNotes } from './explanation-notes.ts';

const port = parentPort;
if (port === null)
  throw new Error('could not start the thread for earlier policies: this file runs only as a worker thread');

const { snapshot, client, ...question } = workerData as PastQuestion;
const opened = openSnapshot(snapshot);
const side = new SimulatedSide(opened);
const notes = new ExplanationNotes(snapshot.version);
const reply = side.explain({ ...question, clients: client, clientAt: 0, answer: null }, notes);
notes.read(side.query, opened);
notes.answered(side.query);
port.postMessage(notes.explanation(side.query.groupId, reply) satisfies FromPast);
