/** Adds many rules from pasted text. Each line is checked and shown before anything is written. */
import { Check, CircleAlert, Copy } from 'lucide-react';
import type { LucideIcon } from 'lucide-react';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { useQueryClient } from '@tanstack/react-query';
import { send } from '../../api/ask.ts';
import { notify } from '../../api/notices.ts';
import { problemText } from '../../api/problem-text.ts';
import { refreshAll } from '../../api/store.ts';
import { undoRevision } from '../../api/undo.ts';
import { useText } from '../../i18n/text.ts';
import { Button } from '../../ui/controls/button.tsx';
import { SwitchField, TextField } from '../../ui/controls/fields.tsx';
import { Stack } from '../../ui/display/page.tsx';
import { Callout } from '../../ui/display/states.tsx';
import { Badge, DomainName } from '../../ui/display/values.tsx';
import type { BadgeTone } from '../../ui/display/values.tsx';
import { Drawer } from '../../ui/overlays/dialog.tsx';
import { GroupField } from '../../ui/policy/groups.tsx';
import { canUndo, writeAll } from './bulk-write.ts';
import type { Written } from './bulk-write.ts';
import { countsOf, pastedNames } from './pasted-lines.ts';
import type { PastedName, PastedState } from './pasted-lines.ts';
import { ActionChoice } from './rule-dialog.tsx';
import type { ManagedDomain, RuleAction } from './rule-rows.ts';
import styles from './rules-page.module.css';

/** Maximum number of lines in the preview; the sums include all lines. */
const SHOWN = 200;

interface BulkPasteProps {
  readonly existing: readonly ManagedDomain[];
  readonly onClose: () => void;
}

export function BulkPaste({ existing, onClose }: BulkPasteProps): ReactNode {
  const { say } = useText();
  const [text, setText] = useState('');
  const [action, setAction] = useState<RuleAction>('deny');
  const [groupId, setGroupId] = useState<number | null>(null);
  const [subdomains, setSubdomains] = useState(true);
  const names = pastedNames(text, { action, subdomains, groupId, existing });
  const fresh = names.filter(({ state }) => state === 'new').map(({ domain }) => domain);
  const writing = useWriting(action, groupId, onClose);
  return (
    <Drawer
      title={say('bulk.title')}
      isOpen
      isKept={writing.isPending}
      onClose={onClose}
      actions={
        <>
          <Button onPress={onClose} isDisabled={writing.isPending}>
            {say('action.cancel')}
          </Button>
          <Button
            kind="main"
            isDisabled={fresh.length === 0}
            isPending={writing.isPending}
            onPress={() => writing.start(fresh)}
          >
            {say('bulk.write', { count: fresh.length })}
          </Button>
        </>
      }
    >
      <Stack>
        {writing.failed !== null && (
          <Callout tone="fault" isAlert>
            {say('bulk.failed', { count: writing.failed.count })} {problemText(writing.failed.error)}
          </Callout>
        )}
        <ActionChoice value={action} onChange={setAction} />
        <GroupField label={say('field.for')} value={groupId} onChange={setGroupId} />
        <TextField
          label={say('field.names')}
          help={say('bulk.names.help')}
          value={text}
          onChange={setText}
          rows={8}
          isDisabled={writing.isPending}
          isCode
        />
        <SwitchField isSelected={subdomains} onChange={setSubdomains} isDisabled={writing.isPending}>
          {say('rules.subdomains')}
        </SwitchField>
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
  // Show invalid lines first.
  const sorted = names.toSorted((one, other) => Number(other.state === 'bad') - Number(one.state === 'bad'));
  return (
    <section className={styles['preview']}>
      <p role="status">{say('bulk.sums', counts)}</p>
      {counts.opposed > 0 && (
        <Callout tone="warning">{say('bulk.opposed', { count: counts.opposed })}</Callout>
      )}
      <ul className={styles['names']} tabIndex={0} aria-label={say('action.preview')}>
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
  readonly isPending: boolean;
  /** Rules that were not written because a request failed; null if there are none. */
  readonly failed: Written['failed'];
  readonly start: (domains: readonly string[]) => void;
}

function useWriting(action: RuleAction, groupId: number | null, onDone: () => void): Writing {
  const { say } = useText();
  const store = useQueryClient();
  const [isPending, setPending] = useState(false);
  const [failed, setFailed] = useState<Written['failed']>(null);
  const write = async (domains: readonly string[]): Promise<number> => {
    const create = domains.map((domain) => ({ domain, action, group_id: groupId }));
    const { headers } = await send('POST /managed-domains/bulk', { body: { create } });
    return Number(headers.get('Weir-Revision') ?? 0);
  };
  const report = (end: Written): void => {
    const [first] = end.revisions;
    const last = end.revisions.at(-1);
    const undo = (): void => {
      if (last !== undefined) void undoRevision(last, first).then(() => refreshAll(store));
    };
    notify({
      tone: end.failed === null ? 'good' : 'warning',
      text: say('bulk.done', { added: end.added, there: end.there, failed: end.failed?.count ?? 0 }),
      ...(canUndo(end) && { action: { text: say('undo.action'), run: undo } }),
    });
  };
  const start = async (domains: readonly string[]): Promise<void> => {
    setPending(true);
    const end = await writeAll(domains, write);
    setPending(false);
    setFailed(end.failed);
    report(end);
    await refreshAll(store);
    if (end.failed === null) onDone();
  };
  return { isPending, failed, start: (domains) => void start(domains) };
}
