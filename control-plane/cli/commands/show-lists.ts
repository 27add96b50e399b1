/** `weir lists`: shows and updates the sources of lists. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { AnswerOf, TypedClient } from '../../../shared/api/client/typed-client.ts';
import { printableJson } from '../output/printable.ts';
import { formatCount } from '../output/quantities.ts';
import type { Screen, Tone } from '../output/screen.ts';
import { printTable } from '../output/text-table.ts';
import type { CommandRun } from './command-run.ts';

type Source = AnswerOf<'GET /blocklist-sources'>[number];

/** Sources by kind. */
interface Sources {
  readonly block: readonly Source[];
  readonly allow: readonly Source[];
}

const POLL_MS = 500;

/** Prints all sources. */
export async function showLists({ client, screen, isJson }: CommandRun): Promise<0> {
  print(screen, isJson, await readSources(client));
  return 0;
}

/** Fetches all lists, waits until they are fetched, and prints them; returns 1 if a list could not be fetched. */
export async function refreshLists({ client, screen, isJson, options }: CommandRun): Promise<0 | 1> {
  await client.call('POST /blocklist-sources/refresh');
  await client.call('POST /allowlist-sources/refresh');
  let sources = await readSources(client);
  if (options['no-wait'] !== true) {
    for (let busy = busyOf(sources); busy > 0; busy = busyOf(sources)) {
      screen.progress(`${busy} of ${allOf(sources).length} lists are being fetched`);
      await sleep(POLL_MS);
      sources = await readSources(client);
    }
    screen.progress('');
  }
  print(screen, isJson, sources);
  return allOf(sources).some(({ status }) => status === 'error') ? 1 : 0;
}

async function readSources(client: TypedClient): Promise<Sources> {
  const [block, allow] = await Promise.all([
    client.call('GET /blocklist-sources'),
    client.call('GET /allowlist-sources'),
  ]);
  return { block, allow };
}

function allOf({ block, allow }: Sources): readonly Source[] {
  return [...block, ...allow];
}

function busyOf(sources: Sources): number {
  return allOf(sources).filter(
    ({ enabled, status }) => enabled && (status === 'updating' || status === 'pending'),
  ).length;
}

const TONES: Readonly<Partial<Record<Source['status'], Tone>>> = { ok: 'good', error: 'bad', held: 'bad' };

function print(screen: Screen, isJson: boolean, sources: Sources): void {
  if (isJson) {
    screen.out(printableJson(sources, 2));
    return;
  }
  const rows = (['block', 'allow'] as const).flatMap((kind) =>
    sources[kind].map(({ id, name, enabled, status, rules, last_changed_at: changed, last_error: error }) => [
      id,
      kind,
      { text: enabled ? status : 'off', tone: (enabled && TONES[status]) || 'weak' } as const,
      formatCount(rules),
      changed?.slice(0, 16).replace('T', ' ') ?? null,
      name,
      error ?? '',
    ]),
  );
  const right = { side: 'right' } as const;
  printTable(
    screen,
    [
      { title: 'ID', ...right },
      { title: 'KIND' },
      { title: 'STATUS' },
      { title: 'RULES', ...right },
      { title: 'CHANGED (UTC)' },
      { title: 'NAME' },
      { title: 'ERROR' },
    ],
    rows,
  );
}
