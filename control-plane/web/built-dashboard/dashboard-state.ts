/** State of the dashboard: the build that is served, or the reason why there is none yet. */
import type { Build } from './open-build.ts';

/** Reason why there is no build. */
export type WithoutBuild =
  /** A build is running. */
  | { readonly kind: 'building' }
  /** No build is running; the reason includes advice. */
  | { readonly kind: 'missing'; readonly reason: string };

/** State of the dashboard. */
export type DashboardState = { readonly kind: 'built'; readonly build: Build } | WithoutBuild;

/** Reports the state; the first call may take a moment after the start. */
export interface DashboardSource {
  state(): Promise<DashboardState>;
}
