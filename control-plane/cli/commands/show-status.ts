/** `weir status`: shows the state of the node, and its statistics of the last day. */
import { ApiFailure } from '../../../shared/api/client/typed-client.ts';
import type { AnswerOf, TypedClient } from '../../../shared/api/client/typed-client.ts';
import { printable, printableJson } from '../output/printable.ts';
import { formatCount, formatDuration, formatPercent } from '../output/quantities.ts';
import { toned } from '../output/screen.ts';
import type { Screen } from '../output/screen.ts';
import type { CommandRun } from './command-run.ts';

interface Status {
  readonly health: AnswerOf<'GET /health'>;
  readonly blocking: AnswerOf<'GET /blocking'>;
  readonly rate: AnswerOf<'GET /stats/rate'>;
  /** Null while the query log cannot be read. */
  readonly stats: AnswerOf<'GET /stats'> | null;
}

/** Prints the state; returns 1 if it is degraded. */
export async function showStatus({ client, screen, isJson }: CommandRun): Promise<0 | 1> {
  const status = await readStatus(client);
  if (isJson) screen.out(printableJson(status, 2));
  else printStatus(screen, status);
  return status.health.status === 'ok' ? 0 : 1;
}

async function readStatus(client: TypedClient): Promise<Status> {
  const [health, blocking, rate, stats] = await Promise.all([
    client.call('GET /health'),
    client.call('GET /blocking'),
    client.call('GET /stats/rate'),
    client.call('GET /stats').catch((error: unknown) => {
      if (error instanceof ApiFailure && error.status === 503) return null;
      throw error;
    }),
  ]);
  return { health, blocking, rate, stats };
}

function printStatus(screen: Screen, { health, blocking, rate, stats }: Status): void {
  const tone = (state: string): string => toned(screen, state === 'ok' ? 'good' : 'bad', state);
  const line = (name: string, text: string): void => screen.out(`  ${name.padEnd(15)}${text}`);
  const since = formatDuration(health.uptime_secs);
  screen.out(
    `Weir ${printable(health.version)} on ${printable(health.node)}: ${tone(health.status)}, up ${since}`,
  );
  for (const [name, { status, detail }] of Object.entries(health.checks))
    line(name, tone(status) + (detail === undefined ? '' : `  ${printable(detail)}`));
  line('blocking', blockingText(blocking));
  line('queries', `${printable(rate.rate)} now`);
  if (stats === null) {
    screen.out('The statistics of the query log are currently not available.');
    return;
  }
  screen.out('In 24 hours');
  line('queries', formatCount(stats.queries_total));
  line('blocked', `${formatCount(stats.queries_blocked)} (${formatPercent(stats.block_rate)})`);
  line('cache hits', formatPercent(stats.cache_hit_rate));
  line('clients', formatCount(stats.clients));
  line('names', `${stats.unique_domains_is_estimate ? 'about ' : ''}${formatCount(stats.unique_domains)}`);
  line(
    'answer in',
    `${stats.avg_query_time_ms.toFixed(1)} ms on average, 95 % in ${stats.p95_query_time_ms.toFixed(1)} ms`,
  );
}

/** The state of blocking as text, such as `off for 9 min 59 s`. */
export function blockingText(blocking: AnswerOf<'GET /blocking'>): string {
  const { enabled, timer_secs: left, source, this_node_only: isHereOnly } = blocking;
  const state = `${enabled ? 'on' : 'off'}${isHereOnly ? ' on this node' : ''}`;
  if (left !== null) return `${state} for ${formatDuration(left)}`;
  return source === 'switch' ? `${state} until it is resumed` : `${state}, as configured`;
}
