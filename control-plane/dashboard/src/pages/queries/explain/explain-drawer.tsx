/** Drawer of a row: the reason for its answer, active temporary rules, and actions. */
import { Funnel, FunnelX } from 'lucide-react';
import { startTransition, useEffect, useState } from 'react';
import type { ReactNode } from 'react';
import { ForAdmins } from '../../../api/session.tsx';
import { useAsk } from '../../../api/use-ask.ts';
import { useText } from '../../../i18n/text.ts';
import { Button, IconButton } from '../../../ui/controls/button.tsx';
import { CopyButton } from '../../../ui/controls/copy-field.tsx';
import { Answered, Callout } from '../../../ui/display/states.tsx';
import { Badge, DomainName } from '../../../ui/display/values.tsx';
import { Drawer } from '../../../ui/overlays/dialog.tsx';
import { valueText } from '../filters/condition-text.ts';
import type { Groups } from '../filters/condition-text.ts';
import type { ConditionName } from '../filters/log-filters.ts';
import type { LogRow } from '../log/log-rows.ts';
import { isBlocked, lookOf } from '../log/status-look.ts';
import { Explanation, Records } from './explanation.tsx';
import { HoldingGrants } from './holding-grants.tsx';
import type { Explained } from './explained.ts';
import type { VerdictActor } from './use-verdict.ts';
import { targetOf } from './verdicts.ts';
import type { VerdictTarget } from './verdicts.ts';
import { VerdictActions } from './verdict-actions.tsx';
import styles from './explain.module.css';
import { useChange } from '../../../api/use-change.ts';
import { exemptDomain, withDomain } from './private-answers.ts';

/** Sets a filter condition. */
export type OnFilter = (name: ConditionName, value: string, isExcluded: boolean) => void;

interface ExplainDrawerProps {
  /** Id of the row; NaN if the row has none yet. */
  readonly id: string;
  /** The row, if the page has loaded it. */
  readonly row: LogRow | null;
  readonly groups: Groups;
  readonly verdicts: VerdictActor;
  readonly onFilter: OnFilter;
  readonly onClose: () => void;
}

/** Use the row's id as React key. */
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
      {target?.status === 'BLOCKED_REBIND' && <PrivateException name={target.domain} />}
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
          <RowFacts row={row} groups={groups} onFilter={onFilter} />
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

/** Current outcome for the name: "Unblock" is offered only if it is still blocked. */
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

interface RowFactsProps {
  readonly row: LogRow;
  readonly groups: Groups;
  readonly onFilter: OnFilter;
}

/** All values of the row, with buttons to filter by each. */
function RowFacts({ row, groups, onFilter }: RowFactsProps): ReactNode {
  const { say } = useText();
  const values: readonly (readonly [ConditionName, string | null])[] = [
    ['domain', row.domain],
    ['client', row.client],
    ['group_id', String(row.group_id)],
    ['type', row.type],
    ['status', row.status],
    ['rcode', row.rcode],
    ['protocol', row.protocol],
    ['upstream', row.upstream],
    ['dnssec', row.dnssec_status],
    // A rule for one name has the name as its source.
    ['block_source', row.block_source === row.domain ? null : row.block_source],
    ['node', row.node],
  ];
  return (
    <section className={styles['part']}>
      <h3>{say('queries.facts')}</h3>
      <dl className={styles['facts']}>
        {values.map(([name, value]) => {
          if (value === null || value === '') return null;
          const text = valueText(name, value, groups, say);
          return (
            <div key={name}>
              <dt>{say(`queries.condition.${name}`)}</dt>
              <dd>
                <bdi className={styles['factText']}>{text}</bdi>
                <IconButton
                  icon={Funnel}
                  label={say('queries.only', { value: text })}
                  onPress={() => onFilter(name, value, false)}
                />
                <IconButton
                  icon={FunnelX}
                  label={say('queries.without', { value: text })}
                  onPress={() => onFilter(name, value, true)}
                />
              </dd>
            </div>
          );
        })}
      </dl>
    </section>
  );
}

/** Checks that a configuration value is a list of strings; the API schema does not say so. */
function textsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((each): each is string => typeof each === 'string') : [];
}

/** Offers an exception; renders nothing if the domain already has one. */
function PrivateException({ name }: { readonly name: string }): ReactNode {
  const { say } = useText();
  const config = useAsk('GET /config', {});
  const change = useChange('PATCH /config', { done: 'queries.private.allowed' });
  if (config.data === undefined) return null;
  const domain = exemptDomain(name);
  const next = withDomain(textsOf(config.data.dns['rebinding_allowlist']), domain);
  if (next === null) return null;
  const body = { dns: { rebinding_allowlist: [...next] } };
  return (
    <ForAdmins>
      <Callout
        tone="info"
        actions={
          <Button isPending={change.isPending} onPress={() => void change.run({ query: {}, body })}>
            {say('queries.private.allow', { domain })}
          </Button>
        }
      >
        {say(domain === 'ts.net' ? 'queries.private.tailscale' : 'queries.private.why')}
      </Callout>
    </ForAdmins>
  );
}
