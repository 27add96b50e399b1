/** Caches the leases of DHCP servers and reloads a lease file after it has changed. */
import { reasonOf } from '../../../shared/errors.ts';
import { readFile, stat } from 'node:fs/promises';
import type { Clock } from '../../../shared/clock.ts';
import type { Logger } from '../../../shared/log.ts';
import { type Lease, readLeases } from './lease-file.ts';

/** Maximum size of a lease file in bytes. */
const MAX_FILE_BYTES = 32 * 1024 * 1024;

interface WatchedFile {
  /** A text that identifies a version of the file. */
  mark: string;
  leases: readonly Lease[];
}

/** Watches the configured lease files. */
export class LeaseWatch {
  private readonly paths: () => readonly string[];
  private readonly clock: Clock;
  private readonly logger: Logger;
  private files = new Map<string, WatchedFile>();
  private byAddress = new Map<string, Lease>();
  private byMac = new Map<string, Lease>();

  constructor(parts: { paths: () => readonly string[]; clock: Clock; logger: Logger }) {
    this.paths = parts.paths;
    this.clock = parts.clock;
    this.logger = parts.logger;
  }

  /** Checks all files; returns whether leases have changed. */
  async refresh(): Promise<boolean> {
    const before = this.files;
    this.files = new Map<string, WatchedFile>();
    let hasChanged = false;
    for (const path of this.paths()) {
      const known = before.get(path);
      const file = await this.check(path, known);
      this.files.set(path, file);
      hasChanged ||= file.leases !== known?.leases;
    }
    if (!hasChanged && before.size === this.files.size) return false;
    const all = [...this.files.values()].flatMap(({ leases }) => leases);
    this.byAddress = new Map(all.map((lease) => [lease.address, lease]));
    this.byMac = new Map(all.flatMap((lease) => (lease.mac === null ? [] : [[lease.mac, lease]])));
    return true;
  }

  /** All leases; later files take precedence. */
  all(): readonly Lease[] {
    return [...this.byAddress.values()];
  }

  /** Host name of a client; null if no lease contains one. */
  hostnameOf(address: string | null, mac: string | null): string | null {
    const lease =
      (mac === null ? undefined : this.byMac.get(mac)) ??
      (address === null ? undefined : this.byAddress.get(address));
    return lease?.hostname ?? null;
  }

  private async check(path: string, known: WatchedFile | undefined): Promise<WatchedFile> {
    try {
      const found = await stat(path);
      if (!found.isFile()) throw new Error('not a regular file');
      const { mtimeMs, size, ino } = found;
      const mark = `${mtimeMs} ${size} ${ino}`;
      if (known?.mark === mark) return known;
      if (size > MAX_FILE_BYTES) throw new Error(`file has more than ${MAX_FILE_BYTES} bytes`);
      return { mark, leases: readLeases(await readFile(path, 'utf8'), this.clock.nowMs()) };
    } catch (error) {
      const mark = reasonOf(error);
      if (known?.mark !== mark) this.logger.warn('could not read DHCP leases', { path, reason: mark });
      // The known leases are kept, because the file may be missing for a moment while the DHCP server restarts.
      return { mark, leases: known?.leases ?? [] };
    }
  }
}
