/** Many names at once: each line is checked and shown before anything is written. */
import { Check, CircleAlert, Copy } from 'lucide-react';
import type { LucideIcon } from 'lucide-react';
import { useRef, useState } from 'react';
import type { ReactNode } from 'react';
import { useQueryClient } from '@tanstack/react-query';
import { send } from '../../api/ask.ts';
import { notify } from '../../api/notices.ts';
import { problemText } from '../../api/problem-text.ts';
import { refreshAll } from '../../api/store.ts';
import { undoRevision } from '../../api/undo.ts';
import { useText } from '../../i18n/text.ts';
import { Button } from '../../ui/controls/button.tsx';
import { TextField } from '../../ui/controls/fields.tsx';
import { Stack } from '../../ui/display/page.tsx';
import { Progress } from '../../ui/display/progress.tsx';
import { Callout } from '../../ui/display/states.tsx';
import { Badge, DomainName } from '../../ui/display/values.tsx';
import type { BadgeTone } from '../../ui/display/values.tsx';
import { Drawer } from '../../ui/overlays/dialog.tsx';
import { GroupField } from '../../ui/policy/groups.tsx';
import { canUndo, doneOf, NOTHING, writeAll } from './bulk-write.ts';
import type { Written } from './bulk-write.ts';
import { countsOf, pastedNames } from './pasted-lines.ts';
import type { PastedName, PastedState } from './pasted-lines.ts';
import { ActionChoice } from './rule-dialog.tsx';
import type { ManagedDomain, RuleAction } from './rule-rows.ts';
import styles from './rules-page.module.css';

/** Most lines of the preview; the sums are over all. */
const SHOWN = 200;

interface BulkPasteProps {
  readonly existing: readonly ManagedDomain[];
  readonly onClose: () => void;
}

/** The drawer. */
export function BulkPaste({ existing, onClose }: BulkPasteProps): ReactNode {
  const { say } = useText();
  const [text, setText] = useState('');
  const [action, setAction] = useState<RuleAction>('deny');
  const [groupId, setGroupId] = useState<number | null>(null);
  const names = pastedNames(text, { action, groupId, existing });
  const fresh = names.filter(({ state }) => state === 'new').map(({ domain }) => domain);
  const writing = useWriting(action, groupId, onClose);
  const isWriting = writing.of !== null;
  return (
    <Drawer
      title={say('bulk.title')}
      isOpen
      isKept={isWriting}
      onClose={onClose}
      actions={
        <Button
          kind="main"
          isDisabled={fresh.length === 0}
          isPending={isWriting}
          onPress={() => writing.start(fresh)}
        >
          {say('bulk.write', { count: fresh.length })}
        </Button>
      }
    >
      <Stack>
        {writing.of !== null && (
          <Progress done={doneOf(writing.written)} of={writing.of} onCancel={writing.stop}>
            {say('bulk.writing', { done: doneOf(writing.written), count: writing.of })}
          </Progress>
        )}
        {writing.written.failed.length > 0 && (
          <Callout tone="fault" isAlert>
            {say('bulk.failed', { count: writing.written.failed.length })}
            <ul>
              {writing.written.failed.slice(0, 10).map(({ domain, error }) => (
                <li key={domain}>
                  <DomainName name={domain} />: {problemText(error)}
                </li>
              ))}
            </ul>
          </Callout>
        )}
        <ActionChoice value={action} onChange={setAction} />
        <GroupField label={say('field.for')} value={groupId} onChange={setGroupId} />
        <TextField
          label={say('bulk.names')}
          help={say('bulk.names.help')}
          value={text}
          onChange={setText}
          rows={8}
          isDisabled={isWriting}
          isCode
        />
        <Preview names={names} />
      </Stack>
    </Drawer>
  );
}

const STATES: Readonly<Record<PastedState, { readonly tone: BadgeTone; readonly icon: LucideIcon }>> = {
  new: { tone: 'good', icon: Check },
  double: { tone: 'plain', icon: Copy },
  there: { tone: 'plain', icon: Copy },
  bad: { tone: 'fault', icon: CircleAlert },
};

function Preview({ names }: { readonly names: readonly PastedName[] }): ReactNode {
  const { say } = useText();
  if (names.length === 0) return null;
  const counts = countsOf(names);
  // What needs a look comes first.
  const sorted = names.toSorted((one, other) => Number(other.state === 'bad') - Number(one.state === 'bad'));
  return (
    <section className={styles['preview']}>
      <p role="status">{say('bulk.sums', counts)}</p>
      {counts.opposed > 0 && (
        <Callout tone="warning">{say('bulk.opposed', { count: counts.opposed })}</Callout>
      )}
      <ul className={styles['names']} tabIndex={0} aria-label={say('bulk.preview')}>
        {sorted.slice(0, SHOWN).map(({ line, domain, state }, place) => (
          <li key={place}>
            <span className={styles['line']}>{line}</span>
            <DomainName name={domain} />
            <Badge {...STATES[state]}>{say(`bulk.${state}`)}</Badge>
          </li>
        ))}
      </ul>
      {names.length > SHOWN && <p>{say('word.rest', { count: names.length - SHOWN })}</p>}
    </section>
  );
}

interface Writing {
  /** How many are being written; null = none now. */
  readonly of: number | null;
  readonly written: Written;
  readonly start: (domains: readonly string[]) => void;
  readonly stop: () => void;
}

function useWriting(action: RuleAction, groupId: number | null, onDone: () => void): Writing {
  const { say } = useText();
  const store = useQueryClient();
  const [of, setOf] = useState<number | null>(null);
  const [written, setWritten] = useState(NOTHING);
  const isStopped = useRef(false);
  const write = async (domain: string): Promise<number> => {
    const { headers } = await send('POST /managed-domains', { body: { domain, action, group_id: groupId } });
    return Number(headers.get('Weir-Revision') ?? 0);
  };
  const tell = (end: Written): void => {
    const undo = (): void => {
      if (end.revisions !== null)
        void undoRevision(end.revisions.last, end.revisions.first).then(() => refreshAll(store));
    };
    notify({
      tone: end.failed.length > 0 ? 'warning' : 'good',
      text: say('bulk.done', { added: end.added, there: end.there, failed: end.failed.length }),
      ...(canUndo(end) && { action: { text: say('undo.action'), run: undo } }),
    });
  };
  const start = async (domains: readonly string[]): Promise<void> => {
    isStopped.current = false;
    setOf(domains.length);
    const end = await writeAll(domains, write, { isStopped: () => isStopped.current, onStep: setWritten });
    setOf(null);
    tell(end);
    await refreshAll(store);
    if (end.failed.length === 0) onDone();
  };
  return {
    of,
    written,
    start: (domains) => void start(domains),
    stop: () => {
      isStopped.current = true;
    },
  };
}
