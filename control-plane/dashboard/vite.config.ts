/** Configuration of the dashboard's build and development server. */
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';
import type { ProxyOptions } from 'vite';
import { SHARED_FILES } from './build/chunk-names.ts';
import { compiledMessages } from './build/compiled-messages.ts';
import { componentLanguages } from './build/component-languages.ts';

/** URL of the Weir server that `npm run dashboard` uses. */
const WEIR = process.env['WEIR_URL'] ?? 'http://127.0.0.1:8080';
const SERVED_BY_WEIR = ['/api', '/svc', '/svc-config.js', '/check', '/docs', '/metrics', '/login/oidc'];

/**
 * Weir refuses requests from other origins, so the proxy replaces the origin of the development server by Weir's. All
 * other origins are forwarded unchanged, so that Weir refuses them.
 */
const toWeir: ProxyOptions = {
  target: WEIR,
  changeOrigin: true,
  // Accept Weir's own certificate, which is self-signed.
  secure: false,
  configure: (proxy) =>
    proxy.on('proxyReq', (outgoing, { headers }) => {
      if (headers.origin !== undefined && URL.parse(headers.origin)?.host === headers.host)
        outgoing.setHeader('origin', new URL(WEIR).origin);
    }),
};

export default defineConfig({
  root: import.meta.dirname,
  // Use relative URLs, because a proxy may serve Weir below a path.
  base: './',
  plugins: [react(), compiledMessages(), componentLanguages('../src/i18n')],
  css: { modules: { generateScopedName: '[hash:base64:6]' } },
  build: {
    // Used only by manual builds; build-dashboard.ts uses a new directory for each build.
    outDir: 'dist/by-hand',
    target: 'baseline-widely-available',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // A single file with all styles loads faster than one file per page, which would need additional requests.
    cssCodeSplit: false,
    reportCompressedSize: false,
    manifest: true,
    rolldownOptions: {
      output: {
        chunkFileNames: ({ facadeModuleId }) =>
          `assets/${facadeModuleId?.endsWith('?other') === true ? 'other-' : ''}[name]-[hash].js`,
        codeSplitting: {
          groups: [{ name: 'entry', tags: ['$initial'] }, ...SHARED_FILES.map((name) => ({ name }))],
        },
      },
    },
  },
  server: {
    port: 5173,
    // Do not watch builds: a build that runs at the same time must not count as a change of the sources.
    watch: { ignored: ['**/dashboard/dist/**'] },
    proxy: Object.fromEntries(SERVED_BY_WEIR.map((path) => [path, toWeir])),
  },
});
