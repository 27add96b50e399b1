// `npm run bench -- api`: latency of the API while DNS is busy. A Weir server with many groups, a large list and a log
// of several days answers queries at a steady rate, while the bench sends every GET request in its reference and
// changes of every kind, also at a steady rate. DNS is measured without API requests before and after.
import { type Bench, ROOT, stageOf, withBench } from '../bench.ts';
import type { LoadJob, LoadResult } from '../load/load.ts';
import { gatherMaterial } from '../material/material.ts';
import { parseOptions } from '../options.ts';
import { readOwnNumbers, runBench } from '../own-options.ts';
import { readCpu } from '../process/proc-tree.ts';
import { type Goal, goalTable } from '../report/goal.ts';
import { quantile } from '../report/quantile.ts';
import { alignColumns } from '../report/table.ts';
import { type RunningServer, type Stage, startServer, steadyJob, warmAndCheck } from '../running-server.ts';
import type { WeirApi } from '../servers/weir-api.ts';
import { filledWeir } from '../stored-log/filled-weir.ts';
import { DAY_MS, HOUR_MS } from '../stored-log/made-up-log.ts';
import { saturatedMix } from '../suites/mix.ts';
import { changeSteps, type Described, type PathValues, readSteps } from './asked-operations.ts';
import { askAlone, askSteadily, type Step, type StepTimes } from './steady-requests.ts';

const HELP = `npm run bench -- api [options]

  --queries N    queries in the log before it starts (5000000)
  --days N       days over which they are spread, up to now (7)
  --groups N     groups in addition to Default (100)
  --rounds N     requests of each operation (100)
  --rate N       requests per second (50; Weir accepts 100 from one address)
  --dns-rate N   queries per second (20000)
  --secs N       seconds of DNS without requests, before and after (30)
  --names N, --base-port N, --server-core N, --load-core N, --seed N, --keep   as of npm run bench
`;
const DEFAULTS = {
  queries: 5_000_000,
  days: 7,
  groups: 100,
  rounds: 100,
  rate: 50,
  'dns-rate': 20_000,
  secs: 30,
};
/** Number of requests of each operation that are sent alone, to measure the operation's CPU time. */
const ALONE_ROUNDS = 20;
const TICK_MS = 10;
const BLOCK_ROWS = 60_000;
const WINDOW = 4000;
const DNS_CHUNK_SECS = 10;
const GET_GOAL_MS = 20;
const CHANGE_GOAL_MS = 60;
const DNS_MOVE_GOAL_MS = 2;

type Own = Readonly<Record<keyof typeof DEFAULTS, number>>;

async function apiBench(bench: Bench, own: Own): Promise<void> {
  const material = gatherMaterial(ROOT, bench.options.names, bench.options.seed);
  const endMs = Math.floor(Date.now() / HOUR_MS) * HOUR_MS;
  const made = {
    ...{ queries: own.queries, days: own.days, nodes: 1, blockRows: BLOCK_ROWS, seed: bench.options.seed },
    stream: material.stream,
    startMs: endMs - own.days * DAY_MS,
  };
  const stage = stageOf(bench, material);
  const weir = filledWeir(made, { name: 'weir-api', groups: own.groups });
  const running = await startServer(stage, weir, 0, true);
  const workload = saturatedMix(bench, material, 'api-bench');
  await warmAndCheck(stage, running, workload);
  const job = { ...steadyJob(running, workload, WINDOW), rateQps: own['dns-rate'] };
  const { steps, leftOut } = await stepsOf(running);
  const alonePace = { times: ALONE_ROUNDS, perSecond: own.rate };
  const cpuMs = await askAlone(running.api!.credentials, steps, alonePace, () => cpuOf(running));
  const alone = await stage.load.run({ ...job, secs: own.secs });
  const asking = askSteadily(running.api!.credentials, steps, own.rounds, own.rate);
  const meanwhile = await queriesUntil(stage, job, asking);
  const after = await stage.load.run({ ...job, secs: own.secs });
  report(await asking, cpuMs, leftOut);
  reportDns(alone, meanwhile, after);
  await running.child.stop();
}

/** All requests. A GET of a single entity requests an entity that exists from the start. */
async function stepsOf({ api }: RunningServer) {
  const get = (path: string): Promise<unknown> => api!.call('GET', path);
  const document = (await get('/openapi.json')) as Described;
  const groups = ((await get('/groups')) as { id: number; is_default: boolean }[])
    .filter((group) => !group.is_default)
    .map(({ id }) => id);
  const { steps, leftOut } = readSteps(document, await entities(document, api!, groups[0]!));
  return { steps: [...steps, ...changeSteps(document, groups)], leftOut };
}

/** Creates one entity of each kind that GETs read by its id. */
async function entities(document: Described, api: WeirApi, groupId: number): Promise<PathValues> {
  const made = async (path: string, body: object): Promise<{ id: number }> =>
    (await api.call('POST', path, body)) as { id: number };
  const [source] = (await api.call('GET', '/blocklist-sources')) as { id: number }[];
  const allowed = { name: 'allowed', url: 'https://allowed.example.invalid/list.txt', enabled: false };
  const { id: allowId } = await made('/allowlist-sources', allowed);
  const { id: profileId } = await made('/schedule-profiles', { name: 'kept', timezone: 'UTC', comment: '' });
  await api.call('PUT', `/groups/${groupId}/schedule`, { profile_id: profileId });
  const domain = await made('/managed-domains', { name: 'kept', domain: 'kept.example.org', action: 'deny' });
  const filter = await made('/regex-filters', { name: 'kept', pattern: '^kept\\.', action: 'deny' });
  const zone = await made('/forward-zones', { zone: 'kept.example.net', servers: ['192.0.2.53'] });
  const client = await made('/clients', { ip_address: '203.0.113.9', name: 'kept' });
  const service = (await api.call('POST', '/custom-services', {
    ...{ name: 'kept', category: 'telemetry', domains: ['kept.service.example.org'] },
  })) as { service_id: string };
  const [revision] = (await api.call('GET', '/revisions')) as { id: number }[];
  const of = (name: string, value: string | number, ...paths: string[]) =>
    Object.fromEntries(
      paths.filter((path) => path in document.paths).map((path) => [path, { [name]: value }]),
    );
  return {
    ...of('id', groupId, '/groups/{id}', '/groups/{id}/clients', '/groups/{id}/schedule'),
    ...of('group_id', groupId, '/safe-search/configs/{group_id}'),
    ...of('id', source!.id, '/blocklist-sources/{id}', '/blocklist-sources/{id}/unused-lines'),
    ...of('id', allowId, '/allowlist-sources/{id}', '/allowlist-sources/{id}/unused-lines'),
    ...of('id', allowId, '/whitelist-sources/{id}', '/whitelist-sources/{id}/unused-lines'),
    ...of('id', profileId, '/schedule-profiles/{id}'),
    ...of('id', domain.id, '/managed-domains/{id}'),
    ...of('id', filter.id, '/regex-filters/{id}'),
    ...of('id', zone.id, '/forward-zones/{id}'),
    ...of('id', client.id, '/clients/{id}'),
    ...of(
      'service_id',
      service.service_id,
      '/services/catalog/{service_id}',
      '/custom-services/{service_id}',
    ),
    ...of('id', revision!.id, '/revisions/{id}'),
  };
}

/** Runs DNS load at the same rate, in chunks, until the requests are done; returns the results of the chunks. */
async function queriesUntil(
  stage: Stage,
  job: Omit<LoadJob, 'secs'>,
  asking: Promise<unknown>,
): Promise<LoadResult[]> {
  let isAsking = true;
  const over = (): void => void (isAsking = false);
  asking.then(over, over);
  const results: LoadResult[] = [];
  while (isAsking) results.push(await stage.load.run({ ...job, secs: DNS_CHUNK_SECS }));
  return results;
}

/** CPU time of Weir including its database, milliseconds. */
function cpuOf({ child }: RunningServer): number {
  const { threads, reapedTicks } = readCpu(child.pid);
  return threads.reduce((sum, { cpuNs }) => sum + cpuNs, 0) / 1e6 + reapedTicks * TICK_MS;
}

function report(
  all: readonly StepTimes[],
  cpuMs: ReadonlyMap<Step, number>,
  leftOut: readonly string[],
): void {
  const lines = all
    .toSorted((a, b) => quantile(b.tookMs, 0.99) - quantile(a.tookMs, 0.99))
    .map(({ step, tookMs, failures, skipped }) => [
      step.name,
      cpuMs.get(step)!.toFixed(1),
      String(tookMs.length),
      quantile(tookMs, 0.5).toFixed(1),
      quantile(tookMs, 0.99).toFixed(1),
      quantile(tookMs, 1).toFixed(1),
      failures.length + skipped === 0
        ? ''
        : `${failures.length} failed, ${skipped} skipped ${failures[0] ?? ''}`,
    ]);
  console.log(alignColumns([['milliseconds', 'CPU alone', 'asked', 'median', 'p99', 'max', ''], ...lines]));
  for (const line of leftOut) console.log(`not asked: ${line}`);
  const slow = (isChange: boolean, goalMs: number): number =>
    all.filter(({ step, tookMs }) => step.isChange === isChange && !(quantile(tookMs, 0.99) <= goalMs))
      .length;
  const together = (isChange: boolean): number[] =>
    all.filter(({ step }) => step.isChange === isChange).flatMap(({ tookMs }) => tookMs);
  const goals: Goal[] = [
    { what: 'GETs with a p99 beyond 20 ms', measured: slow(false, GET_GOAL_MS), unit: '', atMost: 0 },
    { what: 'changes with a p99 beyond 60 ms', measured: slow(true, CHANGE_GOAL_MS), unit: '', atMost: 0 },
    { what: 'p99 of all GETs', measured: quantile(together(false), 0.99), unit: 'ms', atMost: GET_GOAL_MS },
    {
      what: 'p99 of all changes',
      measured: quantile(together(true), 0.99),
      unit: 'ms',
      atMost: CHANGE_GOAL_MS,
    },
  ];
  console.log(`\n${goalTable(goals)}`);
}

function reportDns(alone: LoadResult, meanwhile: readonly LoadResult[], after: LoadResult): void {
  const ms = (result: LoadResult): number => (result.latencyUs?.p99 ?? NaN) / 1000;
  const worst = Math.max(...meanwhile.map(ms));
  const typical = quantile(meanwhile.map(ms), 0.5);
  const lost = (results: readonly LoadResult[]): number =>
    results.reduce((sum, result) => sum + result.lost, 0);
  console.log(
    `\nDNS p99 ms: alone ${ms(alone).toFixed(2)}, under load ${typical.toFixed(2)} (worst ${DNS_CHUNK_SECS} s ` +
      `${worst.toFixed(2)}), afterwards ${ms(after).toFixed(2)}; lost ${lost([alone])}, ${lost(meanwhile)}, ${lost([after])}`,
  );
  const moved = typical - Math.min(ms(alone), ms(after));
  console.log(
    goalTable([{ what: 'p99 of DNS moves by', measured: moved, unit: 'ms', atMost: DNS_MOVE_GOAL_MS }]),
  );
}

async function main(args: string[]): Promise<void> {
  const read = readOwnNumbers(args, DEFAULTS);
  if (read === null) console.log(HELP);
  else await withBench(parseOptions(read.rest), (bench) => apiBench(bench, read.own));
}

await runBench(main);
