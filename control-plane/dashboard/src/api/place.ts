/** Addresses of the page and its API. A proxy may serve Weir below a path, which only the address bar shows. */

interface ServiceConfig {
  readonly apiBase: string;
  readonly compat: boolean;
  readonly version: string;
}

declare global {
  interface Window {
    /** Set by the script that the server makes, see `GET {base_url}/svc-config.js`. */
    readonly __SVC_CONFIG__?: ServiceConfig;
  }
}

const config = window.__SVC_CONFIG__ ?? { apiBase: '/api', compat: false, version: '' };

/** The path that all pages lie below, without a slash at its end: each page is one segment. */
export const PAGE_BASE = new URL('.', location.href).pathname.replace(/\/$/, '');

/** The prefix of the API. */
export const API_BASE = PAGE_BASE + config.apiBase;
