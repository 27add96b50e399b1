/** Handover of a data directory between two processes: taking it over at start, and handing it over to a successor. */
import { resolve } from 'node:path';
import type { Logger } from '../../shared/log.ts';
import { reasonOf } from '../../shared/errors.ts';
import { DataDirError, lockDataDir, refuseOldDataDir } from '../storage/db/data-dir-lock.ts';
import type { DataDirLock } from '../storage/db/data-dir-lock.ts';
import { loadDescriptorCalls } from './upgrade/descriptor-calls.ts';
import { UpgradeSource } from './upgrade/upgrade-source.ts';
import { workerDescriptors } from './upgrade/inherited-sockets.ts';
import { memoryFile } from './upgrade/memory-file.ts';
import type { ServiceManager } from './upgrade/service-manager.ts';
import { UpgradeTarget } from './upgrade/upgrade-target.ts';
import type { WebServer } from '../web/edge/server.ts';
import type { DnsContext } from './start-dns.ts';
import { version } from '../host/version.ts';

/**
 * Command of fcntl(2) that duplicates a file descriptor, such that programs started later do not inherit the duplicate.
 */
const F_DUPFD_CLOEXEC = 1030;

/**
 * Takes the lock of a data directory, or begins a handover from the process that uses it. The handover is requested
 * before the lock is tried: if an earlier successor has died, that process has the sockets, but not the lock. Throws a
 * DataDirError.
 */
export async function openDataDir(
  directory: string,
  logger: Logger,
  takesOver: boolean,
): Promise<{ lock: DataDirLock; taking: UpgradeTarget | null }> {
  refuseOldDataDir(directory);
  let refusal = '';
  if (takesOver) {
    try {
      const taking = await UpgradeTarget.begin(resolve(directory), version, logger);
      return { lock: taking.lock, taking };
    } catch (error) {
      refusal = `, which does not hand it over: ${reasonOf(error)}`;
    }
  }
  try {
    return { lock: lockDataDir(directory), taking: null };
  } catch (error) {
    if (!(error instanceof DataDirError) || error.reason !== 'in_use') throw error;
    throw new DataDirError('in_use', error.message + refusal, error);
  }
}

/** Starts handing over to another process on request; `stop` stops all parts of this process. */
export function startHandover(
  { dataDir, loaded, version, dnsPort, logger, supervisor, publisher, cacheImage }: DnsContext,
  web: WebServer,
  niceness: number,
  service: ServiceManager,
  stop: () => Promise<void>,
): Promise<UpgradeSource> {
  const native = loadDescriptorCalls();
  const calls = 'calls' in native ? native.calls : null;
  const copy = (fd: number): number => calls?.fcntl(fd, F_DUPFD_CLOEXEC, 0) ?? fd;
  /** Descriptors of memory files that contain the answer cache during a handover. */
  const images: number[] = [];
  return UpgradeSource.start(
    {
      logger,
      version,
      dnsPort,
      niceness,
      nodeState: () => supervisor.nodeState(),
      configFile: loaded.file === undefined ? null : resolve(loaded.file),
      calls,
      prepare: async () => {
        // If descriptors cannot be duplicated, pausing the web server would close its port, so it is not paused.
        const listeners = calls === null ? [] : await web.pause(copy);
        await publisher.settled();
        const image = calls === null ? null : cacheImage();
        if (calls !== null && image !== null) images.push(memoryFile(calls, image));
        return [...workerDescriptors(supervisor.memories()), ...listeners, ...images];
      },
      stopReading: () => supervisor.drain(undefined, true),
      readAgain: async () => {
        web.resume();
        for (const fd of images.splice(0)) calls?.close(fd);
        await supervisor.readAgain();
      },
      leave: () => {
        supervisor.outlive();
        return stop();
      },
      keepAnswering: () => supervisor.readAgain(),
      gone: (pid) => {
        service.reportMainProcess(pid);
        process.exit(0);
      },
    },
    dataDir,
  );
}
