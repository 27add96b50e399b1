/** Drawer of a row: the reason for its answer, active temporary rules, and actions. */
import { lazy, startTransition, Suspense, useEffect, useState } from 'react';
import type { ReactNode } from 'react';
import { ForAdmins } from '../../../api/session.tsx';
import { useAsk } from '../../../api/use-ask.ts';
import { useText } from '../../../i18n/text.ts';
import { CopyButton } from '../../../ui/controls/copy-field.tsx';
import { Answered } from '../../../ui/display/states.tsx';
import { Badge, DomainName } from '../../../ui/display/values.tsx';
import { Drawer } from '../../../ui/overlays/dialog.tsx';
import { valueText } from '../filters/condition-text.ts';
import type { Groups } from '../filters/condition-text.ts';
import type { LogRow } from '../log/log-rows.ts';
import { isBlocked, lookOf } from '../log/status-look.ts';
import { Explanation, Records } from './explanation.tsx';
import { HoldingGrants } from './holding-grants.tsx';
import type { Explained } from './explained.ts';
import type { OnFilter } from './row-facts.tsx';
import type { VerdictActor } from './use-verdict.ts';
import { targetOf } from './verdicts.ts';
import type { VerdictTarget } from './verdicts.ts';
import { VerdictActions } from './verdict-actions.tsx';
import styles from './explain.module.css';

const RowFacts = lazy(() => import('./row-facts.tsx'));
const PrivateException = lazy(() => import('./private-exception.tsx'));

interface ExplainDrawerProps {
  /** Id of the row; another text if the row has no id yet. */
  readonly id: string;
  /** The row, if the page has loaded it. */
  readonly row: LogRow | null;
  readonly groups: Groups;
  readonly verdicts: VerdictActor;
  readonly onFilter: OnFilter;
  readonly onClose: () => void;
}

/** Callers must use the row's id as the React key. */
export function ExplainDrawer({
  id,
  row: known,
  groups,
  verdicts,
  onFilter,
  onClose,
}: ExplainDrawerProps): ReactNode {
  const { say } = useText();
  const explained = useExplained(id, known);
  const row = useRow(id, known, explained.data);
  const target = knownTarget(row, explained.data);
  const group = groups.find((one) => one.id === target?.groupId)?.name ?? String(target?.groupId ?? '');
  const now = useStatusNow(target);
  const status = row?.status ?? explained.data?.logged?.status ?? explained.data?.status;
  return (
    <Drawer
      isOpen
      onClose={onClose}
      title={
        <span className={styles['title']}>
          {target === null ? say('page.why') : <DomainName name={target.domain} />}
          {target !== null && <CopyButton text={target.domain} label={say('queries.copyName')} />}
        </span>
      }
      actions={
        target !== null && (
          <ForAdmins>
            <VerdictActions target={{ ...target, status: now }} group={group} verdicts={verdicts} />
          </ForAdmins>
        )
      }
    >
      {status !== undefined && <Outcome status={status} row={row} />}
      {target?.status === 'BLOCKED_REBIND' && (
        <Suspense>
          <PrivateException name={target.domain} />
        </Suspense>
      )}
      {target !== null && <HoldingGrants target={target} verdicts={verdicts} />}
      <Answered of={explained} lines={8}>
        {(answer) => <Explanation of={answer} />}
      </Answered>
      {row !== null && (
        <section className={styles['part']}>
          <h3>{say('queries.why.sent')}</h3>
          <Records rcode={row.rcode} records={row.answers} />
        </section>
      )}
      {row !== null && (
        <Later>
          <Suspense>
            <RowFacts
              row={row}
              textOf={(name, value) => valueText(name, value, groups, say)}
              onFilter={onFilter}
            />
          </Suspense>
        </Later>
      )}
    </Drawer>
  );
}

/**
 * Renders content below the visible part of the drawer later, because its many buttons would delay the visible part.
 */
function Later({ children }: { readonly children: ReactNode }): ReactNode {
  const [isDue, setDue] = useState(false);
  useEffect(() => startTransition(() => setDue(true)), []);
  return isDue ? children : null;
}

function useExplained(id: string, row: LogRow | null) {
  const isNumbered = /^\d+$/.test(id);
  const byRow = row === null ? {} : { domain: row.domain, type: row.type, client: row.client };
  const query = isNumbered ? { query_id: Number(id) } : byRow;
  return useAsk('GET /explain', { query }, { enabled: isNumbered || row !== null });
}

/** The row, which the page may not have loaded if it was opened by a link. */
function useRow(id: string, known: LogRow | null, explained: Explained | undefined): LogRow | null {
  const logged = explained?.logged;
  const from = logged?.timestamp ?? '';
  const to = from === '' ? '' : new Date(Date.parse(from) + 1).toISOString();
  const domain = explained?.domain ?? '';
  const query = { from, to, limit: 1_000, ...(domain !== '' && domain !== '.' && { domain }) };
  const found = useAsk('GET /queries', { query }, { enabled: known === null && logged !== undefined });
  return known ?? found.data?.data.find((row) => String(row.id) === id) ?? null;
}

/** The current outcome for the name: "Unblock" is offered only if the name is still blocked. */
function useStatusNow(target: VerdictTarget | null): LogRow['status'] {
  const { domain = '', client = null, clientId = null } = target ?? {};
  const device = clientId === null ? (client === null ? {} : { client }) : { client_id: clientId };
  const logged = target?.status ?? 'ALLOWED';
  const answer = useAsk('GET /explain', { query: { domain, ...device } }, { enabled: isBlocked(logged) });
  return answer.data?.status ?? logged;
}

function knownTarget(row: LogRow | null, explained: Explained | undefined): VerdictTarget | null {
  if (row !== null) return targetOf(row);
  if (explained === undefined) return null;
  const { domain, client, group_id: groupId } = explained;
  return { domain, client, clientId: null, groupId, status: explained.logged?.status ?? explained.status };
}

function Outcome({
  status,
  row,
}: {
  readonly status: LogRow['status'];
  readonly row: LogRow | null;
}): ReactNode {
  const { say, format } = useText();
  const { icon, tone } = lookOf(status);
  return (
    <p className={styles['outcome']}>
      <Badge tone={tone} icon={icon}>
        {say(`queries.status.${status}`)}
      </Badge>
      {row !== null && (
        <span>
          {say('queries.why.outcome', {
            client: row.client_hostname ?? row.client,
            type: row.type,
            moment: format.moment(row.timestamp),
            span: format.duration(row.response_time_us),
          })}
        </span>
      )}
    </p>
  );
}
