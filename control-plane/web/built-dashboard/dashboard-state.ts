/** What there is of the dashboard: the build that is served, or why there is none yet. */
import type { Build } from './open-build.ts';

/** Why there is no build. */
export type WithoutBuild =
  /** One is under way. */
  | { readonly kind: 'building' }
  /** None will come by itself; with what to do. */
  | { readonly kind: 'missing'; readonly reason: string };

/** Where the dashboard stands. */
export type DashboardState = { readonly kind: 'built'; readonly build: Build } | WithoutBuild;

/** Tells the state; the first answer may take a moment after the start. */
export interface DashboardSource {
  state(): Promise<DashboardState>;
}
