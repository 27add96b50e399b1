/** What somebody may, or may not, ask for a time; Weir ends it by itself. */
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
import { DomainName } from '../../ui/display/values.tsx';
import { GroupNames } from '../../ui/policy/groups.tsx';
import { GrantDialog } from './grant-dialog.tsx';
import { AddableList } from '../../ui/display/addable-list.tsx';
import { RuleBadge } from './rule-badge.tsx';

type Grant = AnswerOf<'GET /grants'>[number];

const EVERY_MS = 15_000;

/** The grants that hold now. */
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
      title: say('grants.what'),
      isName: true,
      cell: ({ domain }) => (domain === null ? say('grants.everything') : <DomainName name={domain} />),
    },
    { id: 'action', title: say('rules.action'), cell: ({ action }) => <RuleBadge action={action} /> },
    {
      id: 'for',
      title: say('field.for'),
      cell: ({ client_id: clientId, group_id: groupId }) =>
        clientId === null ? (
          <GroupNames ids={groupId === null ? [] : [groupId]} />
        ) : (
          <bdi>{nameOfId(clientId)}</bdi>
        ),
    },
    {
      id: 'until',
      title: say('grants.until'),
      cell: ({ until, secs_left: left }) => (
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
