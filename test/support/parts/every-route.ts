/**
 * The complete table of routes, for suites about their common properties: access, conventions, the reference. Plain
 * objects replace every part behind the routes except the database.
 */
import { SAMPLE_FIGURES } from './sample-figures.ts';
import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Route } from '../../../control-plane/api/route.ts';
import { CacheContents } from '../../../control-plane/resolving/cache/cache-contents.ts';
import { openApiDocument, openApiRow } from '../../../control-plane/web/reference/openapi.ts';
import { compatTable, routeTable } from '../../../control-plane/node/route-table.ts';
import type { CompatContext, RouteContext } from '../../../control-plane/node/route-table.ts';
import { NO_POLICY_ROWS } from '../../../control-plane/policy/change/rows.ts';
import { ServiceCatalog } from '../../../control-plane/filtering/services/service-catalog.ts';
import { configRecords } from '../../../control-plane/policy/settings/derived.ts';
import { makeSelfSigned } from '../../../control-plane/web/tls/self-signed.ts';
import type { Simulation } from '../../../shared/api/policy/simulate-api.ts';
import { createAnswerCache } from '../../../shared/memory/answer-cache-layout.ts';
import type { UpstreamReport } from '../../../shared/threads/messages.ts';
import { questionsOf } from './stored-log.ts';
import { MemorySources } from './memory-sources.ts';
import type { ApiParts, CompatRows, Rows } from './running-api.ts';

/** All routes without working parts: for inspection, not to be called. */
export const everyRow: readonly Route[] = routeTable({} as RouteContext);

/** All routes, and the OpenAPI document, which the application adds. */
export const everyOperation: readonly Route[] = [
  ...everyRow,
  openApiRow(() => openApiDocument(everyRow, '/api', '0.0.0-test')),
];

/** Parts that both tables use. */
type EveryPart = RouteContext & CompatContext;

/** All routes, with the parts that a suite provides, and stand-ins for all other parts. */
export function everyRoute(given: Partial<EveryPart> = {}): Rows {
  return (parts) => routeTable({ ...parts, ...standIns(parts), ...given });
}

/** All routes of the compatibility API, over the same parts. */
export function everyCompatRoute(given: Partial<EveryPart> = {}): CompatRows {
  return (parts) => compatTable({ ...parts, ...standIns(parts), ...given });
}

/** Cached, because reading the catalogue takes a quarter of a second and no route changes it. */
let catalog: ServiceCatalog | undefined;
const ownCatalog = (): ServiceCatalog => (catalog ??= new ServiceCatalog(tmpdir()));

/** Simulation of a log without queries. */
const NOTHING_SIMULATED: Simulation = {
  from: '2026-01-14T12:00:00.000Z',
  to: '2026-01-15T12:01:00.000Z',
  oldest: null,
  snapshot_id: 7,
  queries: { judged: 0, not_judged: 0, undecided: 0, answer_unknown: 0, left_out: 0, distinct: 0 },
  is_complete: true,
  damaged_blocks: 0,
  newly_blocked: { queries: 0, domains: 0, clients: 0 },
  newly_allowed: { queries: 0, domains: 0, clients: 0 },
  domains_total: 0,
  domains: [],
  clients_total: 0,
  clients: [],
  lists: [],
  elapsed_ms: 1,
};

/** The upstream of the node under test. */
const UPSTREAM: UpstreamReport = {
  address: 'tls://dns.example.org',
  transport: 'tls',
  poolName: 'main',
  strategy: 'Fastest',
  status: 'Healthy',
  queries: 100,
  failures: 2,
  consecutiveFailures: 0,
  lastError: 'timeout',
  latenciesMs: Float32Array.of(10, 20, 30),
  latencyCounts: { counts: [], sumMs: 0 },
  resolved: ['192.0.2.1'],
  supports: {
    edns: 'supported',
    cookies: 'unknown',
    case: 'unknown',
    tcp: 'supported',
    answersPerConnection: 8,
  },
  removesSignatures: false,
};

/** Stand-in for an import: accepts any file and finds no settings in the file. */
const NOTHING_IMPORTED: EveryPart['settingsImport'] = {
  run: async ({ save, isDryRun }) => {
    const path = join(tmpdir(), `weir-import-${randomUUID()}`);
    await save(path).finally(() => rm(path, { force: true }));
    const counts = { done: 0, changed: 0, skipped: 0, not_mapped: 0, differs: 0 };
    const none = { items: [], settings: [], questions: [], differences: [], configuration: '' };
    return { format: 'pihole', dry_run: isDryRun, revision: null, counts, ...none };
  },
};

/** State of a node whose database is available. */
export const NO_LOCAL_SWITCH: Pick<EveryPart, 'localSwitch' | 'activePolicy'> = {
  localSwitch: { isActive: () => false, use: () => Promise.resolve(), end: () => Promise.resolve() },
  activePolicy: { applyLive: () => Promise.resolve() },
};

/** Report of a node that refused a client. */
const ONE_REFUSED: EveryPart['nodeAccess']['reports'] = {
  announcement: () => null,
  refused: () => [
    {
      ...{ network: '198.51.100.0/24', lastClient: '198.51.100.7', count: 12 },
      ...{ firstMs: Date.UTC(2026, 0, 15, 11), lastMs: Date.UTC(2026, 0, 15, 12) },
    },
  ],
};

/** The server of the only forward zone. */
const ZONE_UPSTREAM: UpstreamReport = {
  ...UPSTREAM,
  address: '192.0.2.53',
  transport: 'udp',
  poolName: 'corp.example.org',
  strategy: 'Parallel',
  status: 'Unhealthy',
  latenciesMs: new Float32Array(0),
  latencyCounts: { counts: [], sumMs: 0 },
  resolved: [],
};

function standIns({ configuration, database, clients, clock }: ApiParts): Omit<EveryPart, keyof ApiParts> {
  const questions = questionsOf(database, (address, clientId) => clients.nameAt(address, clientId));
  return {
    certificate: {
      current: () => null,
      check: async () => undefined,
      found: async () => ({ exists: false, isValid: false, fault: null, facts: null }),
      makeOwn: () => makeSelfSigned(['node-a'], clock.nowMs()),
      replace: (work) =>
        work({ exists: false, isValid: false, fault: null, facts: null }, async () => undefined),
    },
    acme: {
      state: () => ({ step: null, fault: null, endedMs: null, failures: 0, nextMs: null }),
      begin: () => true,
    },
    sharedCertificate: { share: async () => undefined, take: async () => undefined },
    sources: new MemorySources(),
    logClearing: { wake: () => undefined },
    testUpstreams: async (servers) => new Map(servers.map((server) => [server, null])),
    upstreamTrials: {
      run: async ({ servers }) =>
        servers.map((address) => ({
          ...{ address, reachable: true, answers: true, latency_ms: 12.5, error: null },
          dnssec: 'validates' as const,
        })),
    },
    settingsImport: NOTHING_IMPORTED,
    activateRestored: () => Promise.resolve(),
    ...NO_LOCAL_SWITCH,
    network: () => ({ neighbours: [{ address: '192.0.2.1', mac: '02:00:5e:10:00:01' }], leases: [] }),
    nodeAccess: {
      reports: ONE_REFUSED,
      state: { now: () => ({ warnings: [], onlyAddress: null }) },
    },
    threadCpu: () => [],
    claim: { isHeld: () => true, aheadMs: () => -2 },
    nodeFigures: () => ({
      ...{ address: '192.0.2.53', state: 'ready', snapshotId: 7, policyRevision: 3, mark: 3, qps: 1500 },
      others: SAMPLE_FIGURES,
    }),
    policyRows: () => NO_POLICY_ROWS,
    queryLog: questions,
    stats: questions,
    tail: { admit: () => undefined, send: async (response) => void response.end() },
    statusStreams: { admit: () => undefined, send: async (response) => void response.end() },
    localNames: {
      localDomain: () => configuration.current().dns.local_domain,
      live: () => ({ configRecords: configRecords(configuration.current()), leases: [] }),
    },
    rate: { recentQueries: (unit: 'second' | 'minute') => (unit === 'second' ? 1500 : 90_000) },
    past: { explainAt: () => Promise.resolve(null) },
    explainer: {
      explain: async ({ domain, type, client }) => ({
        ...{ lists: [], upstreams: null },
        domain,
        type,
        client,
        group_id: 1,
        snapshot_id: 7,
        status: 'ALLOWED',
        decided_by: null,
        stages: [],
        answer: null,
      }),
    },
    listPreviews: {
      preview: async () => ({
        ...{ bytes: 20, format: 'hosts', names: 2, rules: 2, invalid_lines: 0, skipped_lines: 0 },
        unused: [],
        covered: 1,
        overlaps: [{ id: 1, name: 'ads', rules: 1 }],
      }),
    },
    simulator: { simulate: async () => NOTHING_SIMULATED },
    catalog: { all: () => ownCatalog().all(), get: (id) => ownCatalog().get(id) },
    compiledLists: {
      rulesBySource: () => new Map(),
      safeSearchExceptions: () => new Map(),
      page: async (_kind, { limit, offset }) => ({
        data: [],
        total: 0,
        total_is_estimate: false,
        limit,
        offset,
      }),
    },
    dnsListening: () => ({ addresses: ['127.0.0.1'], dnsPort: 5300, isChosen: false, isService: false }),
    filterStats: () => ({
      blocked_domains: 12,
      allowed_domains: 3,
      wildcard_rules: 2,
      regex_rules: 0,
      filter_bytes: 4096,
      snapshot_id: 7,
      compiled_at: '2026-01-15T11:00:00.000Z',
      compile_ms: 1.5,
    }),
    supervisor: { upstreams: () => [{ pools: [UPSTREAM], zones: [ZONE_UPSTREAM] }] },
    cache: new CacheContents(createAnswerCache(0), () => 0),
    disk: { now: () => ({ freeBytes: 2 ** 30, sizeBytes: 2 ** 34, hasNoInodes: false, spoolBytes: null }) },
    updates: { state: () => ({ checkedAtMs: null, newer: null, fault: null }) },
    recentLines: {
      all: () => [
        ...[{ timestampMs: 1000, level: 'error' as const, message: 'disk full', fields: '' }],
        ...[{ timestampMs: 0, level: 'warn' as const, message: 'could not download', fields: 'list=3' }],
      ],
    },
    health: {
      checks: () => {
        const { state, error } = database.status();
        const isUp = state === 'up';
        return {
          dns: { status: 'ok' },
          database: isUp ? { status: 'ok' } : { status: 'down', detail: error ?? state },
          upstreams: { status: 'ok' },
          filters: { status: 'ok' },
          nodes: { status: 'ok' },
          clock: { status: 'ok' },
          access: { status: 'ok' },
          web: { status: 'ok' },
          certificates: { status: 'ok' },
          disk: { status: 'ok' },
          configuration: { status: 'ok' },
          privileges: { status: 'ok' },
        } as const;
      },
    },
  };
}
