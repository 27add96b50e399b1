/** Notifies a service manager (sd_notify(3)) and lets it store sockets (sd_listen_fds(3)); both require koffi. */
import type { Logger } from '../../../shared/log.ts';
import { reasonOf } from '../../../shared/errors.ts';
import { loadDescriptorCalls } from './descriptor-calls.ts';
import type { DescriptorCalls } from './descriptor-calls.ts';
import { MAX_DESCRIPTORS, sendDescriptors } from './descriptor-messages.ts';
import { InheritedSockets } from './inherited-sockets.ts';
import { connectDatagrams } from './unix-connection.ts';

/** Number of the first stored descriptor (SD_LISTEN_FDS_START). */
const FIRST_DESCRIPTOR = 3;
const F_SETFD = 2;
const FD_CLOEXEC = 1;
/** Name under which the service manager stores all sockets. */
const STORE_NAME = 'weir';

/** The service manager of this process. */
export class ServiceManager {
  private readonly env: NodeJS.ProcessEnv;
  private readonly logger: Logger;
  private readonly calls: DescriptorCalls | null;
  private readonly socket: number | null;
  private watchdog: NodeJS.Timeout | undefined;

  constructor(env: NodeJS.ProcessEnv, logger: Logger) {
    this.env = env;
    this.logger = logger;
    const native = loadDescriptorCalls();
    this.calls = 'calls' in native ? native.calls : null;
    this.socket = this.connect('calls' in native ? '' : native.reason);
  }

  /** The sockets of an earlier process of this service; null = none. */
  storedSockets(): InheritedSockets | null {
    const { LISTEN_PID: pid, LISTEN_FDS: count } = this.env;
    const { calls } = this;
    if (calls === null || Number(pid) !== process.pid || !(Number(count) > 0)) return null;
    const descriptors = Array.from({ length: Number(count) }, (_, index) => FIRST_DESCRIPTOR + index);
    for (const fd of descriptors) calls.fcntl(fd, F_SETFD, FD_CLOEXEC);
    return new InheritedSockets(calls, descriptors);
  }

  /** Reports that the service is ready, and stores its sockets. */
  ready(descriptors: readonly number[]): void {
    this.notify('READY=1');
    this.notify(`FDSTOREREMOVE=1\nFDNAME=${STORE_NAME}`);
    for (let at = 0; at < descriptors.length; at += MAX_DESCRIPTORS)
      this.notify(`FDSTORE=1\nFDNAME=${STORE_NAME}`, descriptors.slice(at, at + MAX_DESCRIPTORS));
  }

  /** Starts sending heartbeats if the service manager requires them; call this only once. */
  stayAlive(): void {
    const { WATCHDOG_PID: pid, WATCHDOG_USEC: periodUs } = this.env;
    if (!(Number(periodUs) > 0) || (pid !== undefined && Number(pid) !== process.pid)) return;
    // The first heartbeat is sent immediately, because the last one of an earlier process may be a whole period old;
    // then two are sent per period.
    this.notify('WATCHDOG=1');
    this.watchdog = setInterval(() => this.notify('WATCHDOG=1'), Number(periodUs) / 2000);
    this.watchdog.unref();
  }

  /** Reports that the service ends, so that the service manager does not keep its sockets. */
  stopping(): void {
    clearInterval(this.watchdog);
    this.notify(`FDSTOREREMOVE=1\nFDNAME=${STORE_NAME}`);
    this.notify('STOPPING=1');
  }

  /** Reports which process is the main process of the service from now on. */
  reportMainProcess(pid: number): void {
    clearInterval(this.watchdog);
    this.notify(`MAINPID=${String(pid)}`);
  }

  private connect(reason: string): number | null {
    const { NOTIFY_SOCKET: path } = this.env;
    if (path === undefined || path === '') return null;
    try {
      if (this.calls === null) throw new Error(reason);
      return connectDatagrams(this.calls, path);
    } catch (error) {
      this.logger.error(
        'could not notify the service manager, which does not know that Weir answers queries; use Type=exec',
        {
          reason: reasonOf(error),
        },
      );
      return null;
    }
  }

  private notify(state: string, descriptors: readonly number[] = []): void {
    if (this.calls === null || this.socket === null) return;
    try {
      sendDescriptors(this.calls, this.socket, { bytes: Buffer.from(state), descriptors });
    } catch (error) {
      this.logger.warn('could not notify the service manager', { state, reason: reasonOf(error) });
    }
  }
}
