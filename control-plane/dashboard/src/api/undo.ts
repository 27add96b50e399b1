/** Undoes a policy change if it is still the newest one. */
import type { QueryClient } from '@tanstack/react-query';
import { ApiFailure } from '../../../../shared/api/client/typed-client.ts';
import { say } from '../i18n/say.ts';
import { ask } from './ask.ts';
import { notify } from './notices.ts';
import type { Notice } from './notices.ts';
import { problemText } from './problem-text.ts';
import { refreshAll } from './store.ts';

/**
 * Restores the policy before this revision, or before `first` if one action made several revisions. If there are newer
 * revisions, nothing changes and a notice links to History, which shows all changes that would be undone.
 */
export async function undoRevision(revision: number, first = revision): Promise<void> {
  try {
    const before = await revisionBefore(first);
    await ask('POST /revisions/{id}/rollback', {
      params: { id: before },
      query: { expected_head: revision },
    });
    notify({ tone: 'good', text: say('undo.done') });
  } catch (error) {
    if (!(error instanceof ApiFailure) || error.status !== 409) {
      notify({ tone: 'fault', text: problemText(error) });
      return;
    }
    notify({
      tone: 'warning',
      text: say('undo.conflict'),
      link: { text: say('action.look'), to: `/history?undo=${revision}` },
    });
  }
}

/** Notifies of a change. If the change made a revision (not 0), the notice offers to undo the change. */
export function notifyUndoable(notice: Notice, revision: number, store: QueryClient): void {
  if (revision === 0) return notify(notice);
  const undo = (): void => {
    void undoRevision(revision).then(() => refreshAll(store));
  };
  notify({ ...notice, action: { text: say('undo.action'), run: undo } });
}

async function revisionBefore(revision: number): Promise<number> {
  const revisions = await ask('GET /revisions');
  const before = revisions.filter(({ id }) => id < revision).reduce((max, { id }) => Math.max(max, id), 0);
  return before === 0 ? revision - 1 : before;
}
