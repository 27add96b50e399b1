/** Temporary rules, which allow or block names until they expire. */
import { Hourglass } from 'lucide-react';
import type { ReactNode } from 'react';
import type { AnswerOf } from '../../../../../shared/api/client/typed-client.ts';
import { useAsk } from '../../api/use-ask.ts';
import { useChange } from '../../api/use-change.ts';
import { nameOf } from '../../ui/policy/client-name.ts';
import { useText } from '../../i18n/text.ts';
import { Button } from '../../ui/controls/button.tsx';
import { DataTable } from '../../ui/display/data-table.tsx';
import type { Column } from '../../ui/display/data-table.tsx';
import { GrantedName } from '../../ui/policy/granted-name.tsx';
import { includesSubdomains, isAddress, nameOfRule, ruleOfPasted } from '../../ui/policy/pasted-name.ts';
import { GroupNames, useGroups } from '../../ui/policy/groups.tsx';
import { AddableList } from '../../ui/display/addable-list.tsx';
import { RuleBadge } from './rule-badge.tsx';
import { useState } from 'react';
import { fieldProblem } from '../../api/problem-text.ts';
import { SelectField, SwitchField, TextField } from '../../ui/controls/fields.tsx';
import { FormFault } from '../../ui/display/states.tsx';
import { ActionChoice } from './rule-dialog.tsx';
import { FormDialog } from '../../ui/overlays/form-dialog.tsx';
import type { RuleAction } from './rule-rows.ts';

type Grant = AnswerOf<'GET /grants'>[number];

const EVERY_MS = 15_000;

/** Active grants. */
export function GrantList(): ReactNode {
  const { say } = useText();
  const grants = useAsk('GET /grants', {}, { everyMs: EVERY_MS });
  return (
    <AddableList
      of={grants}
      icon={Hourglass}
      emptyTitle={say('grants.empty')}
      emptyText={say('grants.emptyText')}
      addText={say('grants.add')}
      form={(close) => <GrantDialog onClose={close} />}
    >
      {(all) => <Grants grants={all} />}
    </AddableList>
  );
}

function Grants({ grants }: { readonly grants: readonly Grant[] }): ReactNode {
  const { say, format } = useText();
  const end = useChange('DELETE /grants/{id}', { done: 'grants.ended' });
  const { data: clients } = useAsk('GET /clients', { query: { limit: 1000 } });
  const nameOfId = (wanted: number): string => {
    const client = clients?.data.find(({ id }) => id === wanted);
    return client === undefined ? `${wanted}` : nameOf(client);
  };
  const columns: readonly Column<Grant>[] = [
    {
      id: 'domain',
      title: say('field.name'),
      isName: true,
      cell: (grant) => <GrantedName grant={grant} />,
    },
    { id: 'action', title: say('field.action'), cell: ({ action }) => <RuleBadge action={action} /> },
    {
      id: 'for',
      title: say('field.for'),
      cell: ({ client_id: clientId, group_id: groupId }) => {
        if (clientId !== null) return <bdi>{nameOfId(clientId)}</bdi>;
        return groupId === null ? say('grants.everyone') : <GroupNames ids={[groupId]} />;
      },
    },
    {
      id: 'until',
      title: say('grants.until'),
      cell: ({ until, secs_left: left }) =>
        until === null || left === null ? (
          say('grants.noEnd')
        ) : (
          <time dateTime={until} title={format.moment(until)}>
            {say('grants.left', { span: format.span(left), time: format.time(until) })}
          </time>
        ),
    },
    {
      id: 'actions',
      title: say('field.actions'),
      isActions: true,
      isForAdmins: true,
      cell: ({ id }) => (
        <Button isDisabled={end.isPending} onPress={() => void end.run({ params: { id } })}>
          {say('grants.end')}
        </Button>
      ),
    },
  ];
  return <DataTable label={say('rules.tab.grants')} columns={columns} rows={grants} keyOf={({ id }) => id} />;
}

const SPANS = ['600', '3600', '10800', '86400'];
const MIDNIGHT = 'midnight';
const NO_END = 'ever';
const EVERYONE = 'everyone';

/** Dialog that temporarily allows or blocks a name for a client, a group or everyone. */
function GrantDialog({ onClose }: { readonly onClose: () => void }): ReactNode {
  const { say, format } = useText();
  const groups = useGroups();
  const { data: clients } = useAsk('GET /clients', { query: { limit: 1000 } });
  const [action, setAction] = useState<RuleAction>('allow');
  const [domain, setDomain] = useState('');
  const [subdomains, setSubdomains] = useState(true);
  const [whose, setWhose] = useState('');
  const [span, setSpan] = useState('3600');
  const create = useChange('POST /grants', { done: 'grants.added', onDone: onClose, quiet: true });
  const { failure } = create;
  const save = (): void => {
    const [kind, id] = whose.split(' ');
    const text = domain.trim();
    const rule = ruleOfPasted(text, subdomains);
    void create.run({
      body: {
        action: action === 'allow' ? 'allow' : 'block',
        domain: text === '' ? null : rule === null ? text : nameOfRule(rule),
        subdomains: rule === null || includesSubdomains(rule),
        ...(kind === 'group' && { group_id: Number(id) }),
        ...(kind === 'client' && { client_id: Number(id) }),
        ...lengthOf(span),
      },
    });
  };
  return (
    <FormDialog
      title={say('grants.add')}
      saveText={say('grants.start')}
      isReady={whose !== ''}
      isPending={create.isPending}
      onSave={save}
      onClose={onClose}
    >
      <ActionChoice value={action} onChange={setAction} />
      <TextField
        label={say('field.name')}
        help={say('grants.what.help')}
        value={domain}
        onChange={setDomain}
        error={fieldProblem(failure, 'domain')}
        isCode
      />
      {isAddress(domain) && <p role="status">{say('rules.covers.address')}</p>}
      {domain.trim() !== '' && (
        <SwitchField
          isSelected={subdomains || includesSubdomains(domain)}
          isDisabled={includesSubdomains(domain)}
          onChange={setSubdomains}
        >
          {say('rules.subdomains')}
        </SwitchField>
      )}
      <SelectField
        label={say('field.for')}
        value={whose}
        onChange={setWhose}
        error={fieldProblem(failure, 'client_id')}
        choices={[
          ...groups.map(({ id, name }) => ({ id: `group ${id}`, text: say('grants.group', { name }) })),
          ...(clients?.data ?? []).map((client) => ({
            id: `client ${client.id}`,
            text: nameOf(client),
          })),
          { id: EVERYONE, text: say('grants.everyone') },
        ]}
      />
      <SelectField
        label={say('field.duration')}
        value={span}
        onChange={setSpan}
        choices={[
          ...SPANS.map((secs) => ({ id: secs, text: format.span(Number(secs)) })),
          { id: MIDNIGHT, text: say('grants.midnight') },
          { id: NO_END, text: say('grants.noEnd') },
        ]}
      />
      <FormFault failure={failure} fields={['domain', 'client_id']} />
    </FormDialog>
  );
}

function lengthOf(span: string): { readonly until?: string; readonly secs?: number } {
  if (span === NO_END) return {};
  return span === MIDNIGHT ? { until: nextMidnight().toISOString() } : { secs: Number(span) };
}

/** Next midnight in the browser's time zone. */
function nextMidnight(): Date {
  const end = new Date();
  end.setHours(24, 0, 0, 0);
  return end;
}
