/**
 * The dashboard on disk: read into memory once, after the start. If there is no build, or its sources have changed, a
 * low-priority process creates a new build, which is then served without a restart.
 */
import { reasonOf } from '../../../shared/errors.ts';
import type { Logger } from '../../../shared/log.ts';
import { DIST, ROOT } from './build-manifest.ts';
import type { DashboardSource, DashboardState } from './dashboard-state.ts';
import { openBuild } from './open-build.ts';
import type { Build } from './open-build.ts';
import { hashOfDashboard, hashOfSources } from './source-hash.ts';

/** Dependencies of the dashboard on disk. */
export interface DashboardOnDiskParts {
  readonly logger: Logger;
  /** Creates a build, until aborted by the signal; rejects with the reason of a failure. */
  readonly build: (process: { readonly logger: Logger; readonly stopped: AbortSignal }) => Promise<void>;
  readonly dist?: string;
  readonly root?: string;
}

/** Advice for users if Weir cannot build. Everyone can read it, so it reveals nothing about the machine. */
const BUILD_ADVICE =
  'it is not built, and Weir could not build it; the log has the reason. Run “npm run dashboard -- build” in the directory ' +
  'where Weir is installed, as the user who owns that directory, and restart Weir. The weir command and the API can do ' +
  'everything that the dashboard can do.';

/** The dashboard on disk. */
export class DashboardOnDisk implements DashboardSource {
  private readonly parts: DashboardOnDiskParts;
  private readonly stopped = new AbortController();
  private found: Promise<DashboardState> | undefined;
  private building: Promise<void> = Promise.resolve();

  constructor(parts: DashboardOnDiskParts) {
    this.parts = parts;
  }

  /** Reads the build at the first call. */
  state(): Promise<DashboardState> {
    return (this.found ??= this.check());
  }

  /** Ends a running build. */
  async stop(): Promise<void> {
    this.stopped.abort();
    await this.building;
  }

  private async check(): Promise<DashboardState> {
    const build = await this.open();
    if (build !== null && (await this.isOfTheseSources(build))) return { kind: 'built', build };
    this.building = this.rebuild(build);
    return { kind: 'building' };
  }

  /** Creates a build and serves it; if that fails, serves the outdated build, if there is one. */
  private async rebuild(stale: Build | null): Promise<void> {
    const { logger, build } = this.parts;
    try {
      await build({ logger, stopped: this.stopped.signal });
      const made = await this.open();
      if (made === null) throw new Error('the build created no files');
      this.found = Promise.resolve({ kind: 'built', build: made });
      logger.info('built the dashboard');
    } catch (error) {
      if (this.stopped.signal.aborted) return;
      const missing = { kind: 'missing', reason: BUILD_ADVICE } as const;
      this.found = Promise.resolve(stale === null ? missing : { kind: 'built', build: stale });
      logger.warn('could not build the dashboard', {
        reason: reasonOf(error),
        served: stale === null ? 'none' : 'one built from other sources',
      });
    }
  }

  private async open(): Promise<Build | null> {
    try {
      return await openBuild(this.parts.dist ?? DIST);
    } catch (error) {
      this.parts.logger.warn('the build of the dashboard is incomplete', { reason: reasonOf(error) });
      return null;
    }
  }

  /** An installation without sources uses the build that it came with. */
  private async isOfTheseSources({ sources }: Build): Promise<boolean> {
    const root = this.parts.root ?? ROOT;
    try {
      return (await hashOfSources(await hashOfDashboard(root), sources.shared, root)) === sources.hash;
    } catch (error) {
      this.parts.logger.debug('could not read the sources of the dashboard', { reason: reasonOf(error) });
      return true;
    }
  }
}
