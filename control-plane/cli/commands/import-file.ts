/** `weir import`: the settings of another program, and what became of each. */
import type { AnswerOf, CallOf } from '../../../shared/api/client/typed-client.ts';
import { printable, printableJson } from '../output/printable.ts';
import { shownCount } from '../output/quantities.ts';
import { toned } from '../output/screen.ts';
import type { Screen, Tone } from '../output/screen.ts';
import { printTable } from '../output/text-table.ts';
import { textOption } from './command-run.ts';
import type { CommandRun } from './command-run.ts';
import { readGiven } from './given-file.ts';

type Report = AnswerOf<'POST /import'>;
type Result = Report['items'][number]['result'];

const WORDS: Readonly<Record<Result, readonly [text: string, tone: Tone]>> = {
  done: ['new', 'good'],
  changed: ['changed', 'good'],
  skipped: ['skipped', 'weak'],
  not_mapped: ['not taken', 'bad'],
  differs: ['differs', 'bad'],
};

/** Imports a file and prints the report. */
export async function importFile(run: CommandRun): Promise<0> {
  const { client, screen, isJson, options } = run;
  const file = run.arguments[0]!;
  const body = await readGiven(file);
  screen.progress(`importing ${printable(file)}, ${shownCount(body.length)} bytes`);
  // The command line has checked the format.
  const format = textOption(run, 'format') as NonNullable<CallOf<'POST /import'>['query']>['format'];
  const query = { format, dry_run: options['dry-run'] === true };
  const report = await client.call('POST /import', { query, body }).finally(() => screen.progress(''));
  if (isJson) screen.out(printableJson(report, 2));
  else printReport(screen, report);
  return 0;
}

function printReport(
  screen: Screen,
  { format, dry_run: isDryRun, revision, counts, items, configuration }: Report,
): void {
  const rows = items.map(({ kind, name, result, reason }) => {
    const [text, tone] = WORDS[result];
    return [{ text, tone }, kind.replaceAll('_', ' '), name, reason ?? ''];
  });
  printTable(screen, [{ title: 'RESULT' }, { title: 'KIND' }, { title: 'NAME' }, { title: 'REASON' }], rows);
  screen.out('');
  const { done, changed, skipped, not_mapped: notMapped, differs } = counts;
  const figures = `${done} new, ${changed} changed, ${skipped} skipped, ${notMapped} not taken, ${differs} different`;
  screen.out(`${format}: ${figures}`);
  if (isDryRun) screen.out(toned(screen, 'head', 'nothing was changed: this was a dry run'));
  else
    screen.out(revision === null ? 'Weir had it all already' : `revision ${revision}; roll back to undo it`);
  if (configuration === '') return;
  screen.out('');
  screen.out('Keys of the configuration, which an import does not set; weir config set does, one by one:');
  screen.out('');
  for (const line of configuration.trimEnd().split('\n')) screen.out(printable(line));
}
