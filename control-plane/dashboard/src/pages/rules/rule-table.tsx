/** Table of rules, with filters and pages. */
import { ScrollText } from 'lucide-react';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { useChanges } from '../../api/use-change.ts';
import { useUrlState } from '../../api/url-state.ts';
import { useFailureTranslation } from '../../i18n/reasons/use-reason-text.ts';
import { useText } from '../../i18n/text.ts';
import { Button } from '../../ui/controls/button.tsx';
import { SelectField, SwitchField } from '../../ui/controls/fields.tsx';
import { Pager } from '../../ui/controls/pager.tsx';
import { DataTable } from '../../ui/display/data-table.tsx';
import type { Column } from '../../ui/display/data-table.tsx';
import { Empty } from '../../ui/display/states.tsx';
import { DomainName, Moment } from '../../ui/display/values.tsx';
import { Confirm } from '../../ui/overlays/confirm.tsx';
import { GroupNames, useGroups } from '../../ui/policy/groups.tsx';
import { RuleBadge } from './rule-badge.tsx';
import { RuleDialog } from './rule-dialog.tsx';
import { fittingRules, groupsOfRow, operationsOf, replacement, rowsOf, textOfRule } from './rule-rows.ts';
import type { Rule, RuleKind, RuleRow } from './rule-rows.ts';
import { Filters } from '../../ui/display/filters.tsx';
import { RowMenu } from '../../ui/overlays/menu.tsx';

const DEFAULTS = { search: '', action: '', group: '', page: '0' };
const PAGE_SIZE = 50;

interface RuleTableProps {
  readonly kind: RuleKind;
  readonly rules: readonly Rule[];
}

export function RuleTable({ kind, rules }: RuleTableProps): ReactNode {
  const { say } = useText();
  const [filter, setFields] = useUrlState(DEFAULTS);
  const [edited, setEdited] = useState<RuleRow | null>(null);
  const [deleted, setDeleted] = useState<RuleRow | null>(null);
  const remove = useChanges({
    done: 'rules.deleted',
    onDone: () => setDeleted(null),
  });
  const rows = rowsOf(fittingRules(rules, filter));
  const runDelete = ({ rule, all }: RuleRow): void =>
    void (all.length > 1
      ? remove.run(operationsOf(kind).bulk, { body: { delete: all.map(({ id }) => id) } })
      : remove.run(operationsOf(kind).remove, { params: { id: rule.id } }));
  const lastPage = Math.max(0, Math.ceil(rows.length / PAGE_SIZE) - 1);
  const page = Math.min(Number(filter.page) || 0, lastPage);
  const columns: readonly Column<RuleRow>[] = [
    {
      id: 'text',
      title: say(`rules.${kind}`),
      isName: true,
      cell: ({ rule }) =>
        kind === 'domain' ? (
          <DomainName name={textOfRule(rule)} />
        ) : (
          <code>
            <bdi>{textOfRule(rule)}</bdi>
          </code>
        ),
    },
    { id: 'action', title: say('field.action'), cell: ({ rule }) => <RuleBadge action={rule.action} /> },
    {
      id: 'group',
      title: say('field.for'),
      cell: ({ all }) => <GroupNames ids={groupsOfRow(all) ?? []} />,
    },
    {
      id: 'comment',
      title: say('field.comment'),
      isMinor: true,
      cell: ({ rule }) => <bdi>{rule.comment}</bdi>,
    },
    {
      id: 'changed',
      title: say('field.changedAt'),
      isMinor: true,
      cell: ({ rule }) => <Moment at={rule.updated_at} />,
    },
    {
      id: 'actions',
      title: say('field.actions'),
      isActions: true,
      isForAdmins: true,
      cell: (row) => <Actions kind={kind} row={row} onEdit={setEdited} onDelete={setDeleted} />,
    },
  ];
  const groups = useGroups();
  return (
    <>
      <Filters
        label={say('rules.search')}
        search={filter.search}
        onSearch={(text) => setFields({ search: text, page: '0' }, { replace: true })}
      >
        <SelectField
          label={say('field.action')}
          isLabelHidden
          value={filter.action}
          onChange={(chosen) => setFields({ action: chosen, page: '0' })}
          choices={[
            { id: '', text: say('rules.anyAction') },
            { id: 'deny', text: say('rules.blocks') },
            { id: 'allow', text: say('rules.allows') },
          ]}
        />
        <SelectField
          label={say('field.for')}
          isLabelHidden
          value={filter.group}
          onChange={(chosen) => setFields({ group: chosen, page: '0' })}
          choices={[
            { id: '', text: say('rules.anyGroup') },
            { id: 'all', text: say('rules.everyGroup') },
            ...groups.map(({ id, name }) => ({ id: `${id}`, text: name })),
          ]}
        />
      </Filters>
      <DataTable
        label={say(`rules.tab.${kind}`)}
        columns={columns}
        rows={rows.slice(page * PAGE_SIZE, (page + 1) * PAGE_SIZE)}
        keyOf={({ rule }) => rule.id}
        empty={
          <Empty icon={ScrollText} title={say('rules.none')}>
            <Button onPress={() => setFields(DEFAULTS)}>{say('action.clearFilter')}</Button>
          </Empty>
        }
      />
      <Pager
        total={rows.length}
        limit={PAGE_SIZE}
        offset={page * PAGE_SIZE}
        onMove={(offset) => setFields({ page: `${offset / PAGE_SIZE}` })}
      />
      {edited !== null && (
        <RuleDialog kind={kind} rule={edited.rule} all={edited.all} onClose={() => setEdited(null)} />
      )}
      {deleted !== null && (
        <Confirm
          title={say('rules.delete')}
          isPending={remove.isPending}
          onClose={() => setDeleted(null)}
          onConfirm={() => runDelete(deleted)}
        >
          <p>
            <RuleBadge action={deleted.rule.action} /> <bdi className="code">{textOfRule(deleted.rule)}</bdi>{' '}
            {deleted.all.length > 1 && <GroupNames ids={groupsOfRow(deleted.all) ?? []} />}
          </p>
        </Confirm>
      )}
    </>
  );
}

interface ActionsProps {
  readonly kind: RuleKind;
  readonly row: RuleRow;
  readonly onEdit: (row: RuleRow) => void;
  readonly onDelete: (row: RuleRow) => void;
}

function Actions({ kind, row, onEdit, onDelete }: ActionsProps): ReactNode {
  const { say } = useText();
  const { rule, all } = row;
  const translate = useFailureTranslation();
  const { run, isPending } = useChanges({ done: rule.enabled ? 'rules.off' : 'rules.on', translate });
  const turn = (enabled: boolean): void =>
    void (all.length > 1
      ? run(operationsOf(kind).bulk, { body: replacement(all, groupsOfRow(all), { enabled }) })
      : run(operationsOf(kind).change, { params: { id: rule.id }, body: { enabled } }));
  const name = textOfRule(rule);
  return (
    <RowMenu name={name} onEdit={() => onEdit(row)} onDelete={() => onDelete(row)}>
      <SwitchField
        aria-label={say('field.isOnOf', { name })}
        isSelected={rule.enabled}
        isDisabled={isPending}
        onChange={turn}
      >
        {null}
      </SwitchField>
    </RowMenu>
  );
}
