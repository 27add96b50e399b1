/** `weir import`: imports the settings of another program and reports the result for each setting. */
import type { AnswerOf, CallOf } from '../../../shared/api/client/typed-client.ts';
import { printable, printableJson } from '../output/printable.ts';
import { formatCount } from '../output/quantities.ts';
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
  not_mapped: ['not imported', 'bad'],
  differs: ['differs', 'bad'],
};

const QUESTIONS: Readonly<Record<Report['questions'][number]['kind'], string>> = {
  starting_list: 'Should the default list stay active:',
  device_group: 'Group of',
};

/** Imports a file and prints the report. */
export async function importFile(run: CommandRun): Promise<0> {
  const { client, screen, isJson, options } = run;
  const file = run.arguments[0]!;
  const body = await readGiven(file);
  screen.progress(`importing ${printable(file)}, ${formatCount(body.length)} bytes`);
  // The parser of the command line has already checked the format.
  const format = textOption(run, 'format') as NonNullable<CallOf<'POST /import'>['query']>['format'];
  const query = {
    format,
    dry_run: options['dry-run'] === true,
    settings: textOption(run, 'settings'),
    answers: textOption(run, 'answers'),
  };
  const report = await client.call('POST /import', { query, body }).finally(() => screen.progress(''));
  if (isJson) screen.out(printableJson(report, 2));
  else printReport(screen, report);
  return 0;
}

function printReport(screen: Screen, report: Report): void {
  const { format, dry_run: isDryRun, revision, counts, items } = report;
  const rows = items.map(({ kind, name, action, result, reason }) => {
    const [text, tone] = WORDS[result];
    const what = kind.replaceAll('_', ' ');
    return [{ text, tone }, action === null ? what : `${what}, ${action}`, name, reason ?? ''];
  });
  printTable(screen, [{ title: 'RESULT' }, { title: 'KIND' }, { title: 'NAME' }, { title: 'REASON' }], rows);
  printDifferences(screen, report);
  printSettings(screen, report);
  printQuestions(screen, report);
  screen.out('');
  const { done, changed, skipped, not_mapped: notMapped, differs } = counts;
  const figures = `${done} new, ${changed} changed, ${skipped} skipped, ${notMapped} not imported, ${differs} different`;
  screen.out(`${format}: ${figures}`);
  if (isDryRun) screen.out(toned(screen, 'head', 'nothing was changed: this was a dry run'));
  else
    screen.out(
      revision === null ? 'Weir already had everything' : `revision ${revision}; roll back to undo it`,
    );
}

function printDifferences(screen: Screen, { differences }: Report): void {
  if (differences.length === 0) return;
  screen.out('');
  screen.out('Different after the import:');
  printTable(
    screen,
    [{ title: 'QUERIES' }, { title: 'NAME' }, { title: 'REASON' }],
    differences.map(({ name, reason, queries }) => [
      queries === null ? '-' : formatCount(queries),
      name,
      reason,
    ]),
  );
}

function printSettings(screen: Screen, { settings, dry_run: isDryRun }: Report): void {
  if (settings.length === 0) return;
  screen.out('');
  screen.out(
    isDryRun
      ? 'Settings; select them with --settings KEYS (default = those marked [x]):'
      : 'Settings; those marked [x] are set:',
  );
  const rows = settings.map(({ key, value, selected, reason }) => [
    selected ? '[x]' : '[ ]',
    key,
    JSON.stringify(value),
    reason ?? '',
  ]);
  printTable(screen, [{ title: '' }, { title: 'KEY' }, { title: 'VALUE' }, { title: 'REASON' }], rows);
}

function printQuestions(screen: Screen, { questions }: Report): void {
  for (const { id, kind, name, choices, choice } of questions) {
    screen.out('');
    screen.out(printable(`${QUESTIONS[kind]} ${name}? Answer with --answers:`));
    for (const one of choices)
      screen.out(printable(`  ${one.id === choice ? '[x]' : '[ ]'} ${id}:${one.id}  ${one.text}`));
  }
}
