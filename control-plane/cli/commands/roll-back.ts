/** `weir revisions rollback`: restores the policy of a revision. */
import { createInterface } from 'node:readline/promises';
import type { AnswerOf } from '../../../shared/api/client/typed-client.ts';
import { printable, printableJson } from '../output/printable.ts';
import { Misuse } from '../remote/api-connection.ts';
import type { CommandRun } from './command-run.ts';

type Revision = AnswerOf<'GET /revisions'>[number];

/** Maximum number of shown changes that would be undone. */
const SHOWN = 20;

/**
 * Shows the changes to undo, asks for confirmation, and rolls back, unless a newer change was made since they were
 * shown.
 */
export async function rollBack(run: CommandRun): Promise<0 | 1> {
  const { client, screen, isJson } = run;
  const given = run.arguments[0]!;
  if (!/^\d{1,15}$/.test(given)) throw new Misuse(`expected the id of a revision, got "${given}"`);
  const id = Number(given);
  const revisions = await client.call('GET /revisions');
  const undone = revisions.filter((revision) => revision.id > id && !revision.is_own);
  if (run.options['yes'] !== true && !(await isWanted(run, id, undone))) {
    screen.err('weir: nothing was changed');
    return 1;
  }
  const query = undone.length === 0 ? {} : { expected_head: undone[0]!.id };
  const revision = await client.call('POST /revisions/{id}/rollback', { params: { id }, query });
  if (isJson) screen.out(printableJson(revision, 2));
  else screen.out(`revision ${revision.id}: ${printable(revision.summary)}`);
  return 0;
}

async function isWanted({ screen }: CommandRun, id: number, undone: readonly Revision[]): Promise<boolean> {
  if (!process.stdin.isTTY) throw new Misuse('standard input is not a terminal: use --yes');
  screen.err(undone.length === 0 ? 'No change would be undone.' : 'These changes would be undone:');
  for (const { id: newer, created_at: at, author, summary } of undone.slice(0, SHOWN))
    screen.err(
      `  ${newer}  ${at.slice(0, 16).replace('T', ' ')}  ${printable(author)}: ${printable(summary)}`,
    );
  if (undone.length > SHOWN) screen.err(`  and ${undone.length - SHOWN} more`);
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^y(es)?$/i.test(await lines.question(`Roll back to revision ${id}? [y/N] `));
  } finally {
    lines.close();
  }
}
