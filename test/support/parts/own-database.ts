/**
 * A program that locks the data directory in its first argument, starts the embedded database there, prints `up <pid of
 * the server>` and runs until it is killed. It stands in for a Weir server in tests of the state after a kill.
 */
import { lockDataDir } from '../../../control-plane/storage/db/data-dir-lock.ts';
import { createEmbeddedServer } from '../../../control-plane/storage/db/embedded-server.ts';
import { MemoryLogger } from './memory-logger.ts';

const lock = lockDataDir(process.argv[2] ?? '');
const server = createEmbeddedServer(lock, new MemoryLogger());
await server.ensureRunning();
process.stdout.write(`up ${server.pid() ?? 0}\n`);
setInterval(() => undefined, 60_000);
