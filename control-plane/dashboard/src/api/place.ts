/** URLs of the page and its API. If a proxy serves Weir below a path, only the address bar contains that path. */

interface ServiceConfig {
  readonly apiBase: string;
  readonly compat: boolean;
  readonly version: string;
}

declare global {
  interface Window {
    /** The script at `GET {base_url}/svc-config.js` sets this property. */
    readonly __SVC_CONFIG__?: ServiceConfig;
  }
}

const config = window.__SVC_CONFIG__ ?? { apiBase: '/api', compat: false, version: '' };

/** Path of all pages, without a slash at its end. Each page adds one segment. */
export const PAGE_BASE = new URL('.', location.href).pathname.replace(/\/$/, '');

/** Path prefix of the API. */
export const API_BASE = PAGE_BASE + config.apiBase;
