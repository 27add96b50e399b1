/** Waits until the first fetch of a new list is over, and says how it went. */
import type { SourceKind } from '../../../../../shared/policy/source-kind.ts';
import { ask } from '../../api/ask.ts';
import type { Notice } from '../../api/notices.ts';
import { messageText } from '../../api/problem-text.ts';
import { say } from '../../i18n/say.ts';
import { isBusy, operationsOf } from './list-rows.ts';
import type { Source } from './list-rows.ts';

/** Longer than a fetch may take. */
const LONGEST_MS = 120_000;
const PAUSE_MS = 500;

/** The notice about a list that was just added; one that is switched off is not fetched. */
export async function outcomeOfAdding(kind: SourceKind, added: Source): Promise<Notice> {
  const source = await settled(kind, added);
  const { name } = source;
  const link = { text: say('action.look'), to: `/lists?kind=${kind}&open=${source.id}` };
  if (source.status === 'held') return { tone: 'warning', text: say('lists.addedHeld', { name }), link };
  if (source.status !== 'error') return { tone: 'good', text: say('lists.added') };
  const reason = messageText(source.last_error ?? '');
  return { tone: 'fault', text: say('lists.addedFaulty', { name, reason }), link };
}

async function settled(kind: SourceKind, added: Source): Promise<Source> {
  const { one } = operationsOf(kind);
  const end = Date.now() + LONGEST_MS;
  let source = added;
  while (isBusy([source]) && Date.now() < end) {
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    try {
      source = await ask(one, { params: { id: added.id } });
    } catch {
      // It may be deleted already, or Weir is away, which the page shows.
      return added;
    }
  }
  return source;
}
