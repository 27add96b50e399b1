/** Asks before answers are dropped from the cache, and says how many. */
import type { ReactNode } from 'react';
import { useAsk } from '../../api/use-ask.ts';
import { useChange } from '../../api/use-change.ts';
import { useText } from '../../i18n/text.ts';
import { Answered } from '../../ui/display/states.tsx';
import { Confirm } from '../../ui/overlays/confirm.tsx';

/** What is to be dropped; an empty name is all. */
export interface Purge {
  readonly domain: string;
  readonly type?: string;
}

interface PurgeDialogProps {
  readonly purge: Purge;
  readonly onClose: () => void;
}

/** The dialog. */
export function PurgeDialog({ purge: { domain, type }, onClose }: PurgeDialogProps): ReactNode {
  const { say, format } = useText();
  const drop = useChange('DELETE /cache/entries', { done: 'resolving.purge.done', onDone: onClose });
  const filter = { ...(domain !== '' && { domain }), ...(type !== undefined && { type }) };
  const found = useAsk('GET /cache/entries', { query: { ...filter, limit: 1 } });
  return (
    <Confirm
      title={say(domain === '' ? 'resolving.purge.all' : 'resolving.purge.title', {
        name: type === undefined ? domain : `${domain} ${type}`,
      })}
      action={say('resolving.purge.action')}
      isPending={drop.isPending}
      onConfirm={() => void drop.run({ query: filter })}
      onClose={onClose}
    >
      <Answered of={found.isPlaceholderData ? { ...found, data: undefined } : found} lines={1}>
        {({ total }) => <p>{say('resolving.purge.count', { count: total, shown: format.count(total) })}</p>}
      </Answered>
    </Confirm>
  );
}
