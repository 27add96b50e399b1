/** The rows below the page `/check`, which stand outside the API. */
export { publicProbeRoutes as checkTable } from '../probes/probe-routes.ts';
