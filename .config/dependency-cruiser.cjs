// Allowed imports. ARCHITECTURE.md explains the rules; this file enforces them.
// Tests (`*.test.ts`, `test/`) follow the layer rules too, unless a rule names them.

const TEST = '(\\.test\\.ts$|^test/)';

/** Allows only the named files to import a package. */
function door(pkg, allowed) {
  return {
    name: `door-of-${pkg}`,
    comment: `${pkg} is imported in one place only, so that replacing it touches one place only`,
    severity: 'error',
    from: { path: '^(config|shared|dns-worker|control-plane)/', pathNot: [allowed, TEST] },
    to: { path: `node_modules/(@types/)?${pkg}/` },
  };
}

module.exports = {
  forbidden: [
    {
      name: 'no-cycles',
      severity: 'error',
      comment: 'a cycle has no order in which it can be read; imports of types count too',
      from: {},
      to: { circular: true },
    },
    {
      name: 'no-orphans',
      severity: 'error',
      comment: 'a file that nothing imports and that imports nothing is forgotten',
      from: {
        orphan: true,
        pathNot: ['\\.test\\.ts$', '\\.d\\.ts$', '^migrations/', '^test/', '^\\.config/'],
      },
      to: {},
    },
    {
      name: 'not-resolvable',
      severity: 'error',
      comment: 'an import that leads nowhere',
      from: {},
      to: { couldNotResolve: true },
    },
    {
      name: 'no-undeclared-packages',
      severity: 'error',
      comment: 'a package that package.json does not name',
      from: {},
      to: { dependencyTypes: ['npm-no-pkg', 'npm-unknown'] },
    },
    {
      name: 'no-dev-packages-in-production',
      severity: 'error',
      from: { path: '^(config|shared|dns-worker|control-plane)/', pathNot: TEST },
      to: {
        dependencyTypes: ['npm-dev'],
        dependencyTypesNot: ['type-only'],
        pathNot: 'node_modules/@types/',
      },
    },

    // The dashboard runs in a browser.
    {
      name: 'dashboard-imports-shared-only',
      severity: 'error',
      comment: 'it is one more client of the API: of the rest it may know the types and pure rules of shared',
      from: { path: '^control-plane/dashboard/src/', pathNot: TEST },
      to: { path: '^(config|dns-worker|migrations|deploy|control-plane/(?!dashboard/))' },
    },
    {
      name: 'dashboard-has-no-schemas',
      severity: 'error',
      comment: 'a schema library would cost the browser more than all pages; types of schemas cost nothing',
      from: { path: '^control-plane/dashboard/src/', pathNot: TEST },
      to: { path: '^shared/api/', pathNot: '^shared/api/client/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'pages-of-the-dashboard-are-apart',
      severity: 'error',
      comment: 'a page is loaded when it is opened; what two need stands in ui/ or api/',
      from: { path: '^control-plane/dashboard/src/pages/([^/]+)/' },
      to: {
        path: '^control-plane/dashboard/src/pages/[^/]+/',
        pathNot: '^control-plane/dashboard/src/pages/$1/',
      },
    },
    {
      name: 'dashboard-is-imported-by-nothing',
      severity: 'error',
      from: { path: '^(config|shared|dns-worker|control-plane/(?!dashboard/))' },
      to: { path: '^control-plane/dashboard/' },
    },

    // 1. shared imports nothing from the other directories, and does no I/O.
    {
      name: 'shared-imports-shared-only',
      severity: 'error',
      comment: 'both planes import shared; it imports neither; its tests may use what test/support makes',
      from: { path: '^shared/' },
      to: { path: '^(config|dns-worker|control-plane|migrations|deploy)/' },
    },
    {
      name: 'shared-does-no-io',
      severity: 'error',
      comment: 'shared is pure: no files, sockets, processes, threads or timers',
      from: { path: '^shared/', pathNot: '\\.test\\.ts$' },
      to: {
        dependencyTypes: ['core'],
        path: '^(node:)?(fs|fs/promises|net|dgram|tls|http|https|http2|dns|dns/promises|child_process|cluster|worker_threads|timers|timers/promises|readline|os|process)$',
        dependencyTypesNot: ['type-only'],
      },
    },

    // 2. dns-worker only imports shared, and no packages.
    {
      name: 'dns-worker-imports-shared-only',
      severity: 'error',
      comment: 'the data plane knows neither the database nor the configuration file nor the web',
      from: { path: '^dns-worker/' },
      to: { path: '^(config|control-plane|migrations|deploy)/' },
    },
    {
      name: 'dns-worker-imports-no-packages',
      severity: 'error',
      from: { path: '^dns-worker/', pathNot: TEST },
      to: { path: 'node_modules/', pathNot: 'node_modules/@types/node/' },
    },
    {
      name: 'dns-worker-opens-no-files',
      severity: 'error',
      comment: 'a worker never opens the database or a file',
      from: { path: '^dns-worker/', pathNot: TEST },
      to: { dependencyTypes: ['core'], path: '^(node:)?(fs|fs/promises|child_process|cluster)$' },
    },

    // 3. control-plane starts the worker's threads by URL and never imports them.
    {
      name: 'control-plane-never-imports-dns-worker',
      severity: 'error',
      from: { path: '^control-plane/', pathNot: '\\.test\\.ts$' },
      to: { path: '^dns-worker/' },
    },
    {
      name: 'config-imports-shared-only',
      severity: 'error',
      from: { path: '^config/' },
      to: { path: '^(dns-worker|control-plane|migrations|deploy)/' },
    },
    {
      name: 'production-never-imports-tests',
      severity: 'error',
      from: { path: '^(config|shared|dns-worker|control-plane)/', pathNot: '\\.test\\.ts$' },
      to: { path: TEST },
    },

    // 4. Each package is imported in one place.
    door('dns-packet', '^shared/dns/codec\\.ts$'),
    door('pg', '^control-plane/(storage/db/|.+-store\\.ts$)'),
    door('node-pg-migrate', '^control-plane/storage/db/'),
    door(
      'express',
      '^control-plane/(api/|web/(server|edge|relay|reference|dashboard-files)/|web/auth/(session-cookie|request-caller)\\.ts$|.+-routes\\.ts$)',
    ),
    door('helmet', '^control-plane/web/edge/security-headers\\.ts$'),
    door('cookie-parser', '^control-plane/web/server/'),
    door('multer', '^control-plane/web/tls/'),
    door('argon2', '^control-plane/web/auth/accounts/password\\.ts$'),
    door('luxon', '^(shared/policy/|control-plane/filtering/schedules/)'),
    door('jose', '^control-plane/web/acme/acme-account\\.ts$'),
    door('winston', '^control-plane/host/log/'),
    door('toml', '^config/'),
    door('zod-openapi', '^control-plane/web/reference/'),
    door('zod', '^(config|shared/api|control-plane/query-log/block)/'),
    door('piscina', '^control-plane/policy/compile/table/'),
    door('hyparquet-writer', '^control-plane/query-log/reading/export-parquet\\.ts$'),
    door('prom-client', '^control-plane/metrics/prometheus-text\\.ts$'),
    door('yauzl', '^control-plane/transfer/importers/files/zip-files\\.ts$'),
    door('tar', '^control-plane/transfer/importers/files/tar-files\\.ts$'),
    door('yaml', '^control-plane/transfer/importers/files/read-tree\\.ts$'),
    door('koffi', '^shared/libc\\.ts$'),

    // 5. A store never imports routes; a feature never imports another feature's routes.
    {
      name: 'store-never-imports-routes',
      severity: 'error',
      from: { path: '^control-plane/.+-store\\.ts$' },
      to: { path: '^control-plane/(.+-routes\\.ts$|web/server/)' },
    },
    {
      name: 'routes-belong-to-their-feature',
      severity: 'error',
      comment: 'a feature hands out its rows; only the tables of routes, and tests, know them',
      from: {
        path: '^control-plane/',
        pathNot: ['^control-plane/(node|web/server)/(route|compat|check)-table\\.ts$', TEST],
      },
      to: { path: '^control-plane/.*-routes\\.ts$' },
    },
    {
      name: 'features-do-not-know-http',
      severity: 'error',
      comment: 'how routes are served is known to web/, which node/ puts over them',
      from: { path: '^control-plane/[^/]+/', pathNot: ['^control-plane/(web|node)/', TEST] },
      to: { path: '^control-plane/web/server/' },
    },
    {
      name: 'api-knows-no-feature',
      severity: 'error',
      comment:
        'api/ has the words that features speak to HTTP with; of them it knows none but the database errors and the type of a transaction',
      from: { path: '^control-plane/api/', pathNot: [TEST] },
      to: {
        path: '^control-plane/',
        pathNot: '^control-plane/(api/|storage/db/(database-errors|queryable)\\.ts$)',
      },
    },
    {
      name: 'one-door-for-a-change',
      severity: 'error',
      comment: 'a change goes through policy/change/change.ts, which applies it; only compiles also publish',
      from: {
        path: '^control-plane/',
        pathNot: ['^control-plane/(node/start-policy\\.ts$|lists/sources/)', TEST],
      },
      to: { path: '^control-plane/policy/snapshot/publish/active-policy\\.ts$' },
    },
    {
      name: 'revisions-are-written-with-their-change',
      severity: 'error',
      comment: 'what a revision is made of is known to the one door for a change',
      from: { path: '^control-plane/', pathNot: ['^control-plane/policy/change/change\\.ts$', TEST] },
      to: { path: '^control-plane/policy/change/(change-detection|record-revision-store)\\.ts$' },
    },
    {
      name: 'no-barrels',
      severity: 'error',
      comment: 'an index.ts hides where a thing lives',
      from: {},
      to: { path: '/index\\.ts$', pathNot: 'node_modules/' },
    },

    // 6. A stage never imports another stage: only pipeline.ts defines the order.
    {
      name: 'stages-do-not-know-each-other',
      severity: 'error',
      from: { path: '^dns-worker/stages/([^/]+)\\.ts$', pathNot: '\\.test\\.ts$' },
      to: { path: '^dns-worker/(stages/|pipeline\\.ts$)' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^(control-plane/dashboard/(dist|public)|data|coverage)/' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default', 'types'],
      mainFields: ['main', 'types'],
    },
  },
};
