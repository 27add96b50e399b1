/** Networks that assign a group to each client whose group was not assigned individually. */
import { Network, Trash2 } from 'lucide-react';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import type { AnswerOf } from '../../../../../shared/api/client/typed-client.ts';
import { ForAdmins } from '../../api/session.tsx';
import { useAsk } from '../../api/use-ask.ts';
import { useChange } from '../../api/use-change.ts';
import { useText } from '../../i18n/text.ts';
import { Button, IconButton } from '../../ui/controls/button.tsx';
import { Answered, Empty, FormFault } from '../../ui/display/states.tsx';
import { SelectField, TextField } from '../../ui/controls/fields.tsx';
import { DataTable } from '../../ui/display/data-table.tsx';
import type { Column } from '../../ui/display/data-table.tsx';
import { Card, Cards, Stack } from '../../ui/display/page.tsx';
import { useFields } from '../../api/use-fields.ts';
import { SubmitForm } from '../../ui/controls/submit-form.tsx';

type Subnet = AnswerOf<'GET /client-subnets'>[number];

export function Subnets(): ReactNode {
  const { say } = useText();
  const subnets = useAsk('GET /client-subnets', {});
  const remove = useChange('DELETE /client-subnets/{id}', { done: 'clients.subnet.deleted' });
  const columns: readonly Column<Subnet>[] = [
    {
      id: 'network',
      title: say('field.network'),
      isName: true,
      cell: ({ subnet_cidr: network }) => <bdi>{network}</bdi>,
    },
    {
      id: 'group',
      title: say('field.group'),
      cell: ({ group_id: id, group_name: name }) => (
        <Link to={`/groups?open=${id}`} className="button-link">
          <bdi>{name}</bdi>
        </Link>
      ),
    },
    { id: 'comment', title: say('field.comment'), cell: ({ comment }) => <bdi>{comment}</bdi> },
    {
      id: 'actions',
      title: say('field.actions'),
      isActions: true,
      isForAdmins: true,
      cell: ({ id, subnet_cidr: network }) => (
        <IconButton
          icon={Trash2}
          label={say('clients.subnet.delete', { network })}
          onPress={() => void remove.run({ params: { id } })}
        />
      ),
    },
  ];
  return (
    <Cards>
      <Card title={say('clients.tab.subnets')}>
        <p>{say('clients.subnet.help')}</p>
        <Answered of={subnets}>
          {(rows) => (
            <DataTable
              label={say('clients.tab.subnets')}
              columns={columns}
              rows={rows}
              keyOf={({ id }) => id}
              empty={<Empty icon={Network} title={say('clients.subnet.none')} />}
            />
          )}
        </Answered>
      </Card>
      <ForAdmins>
        <SubnetForm />
      </ForAdmins>
    </Cards>
  );
}

const EMPTY = { subnet_cidr: '', group_id: '', comment: '' };

function SubnetForm(): ReactNode {
  const { say } = useText();
  const { data: groups = [] } = useAsk('GET /groups', {});
  const create = useChange('POST /client-subnets', {
    done: 'clients.subnet.created',
    quiet: true,
    onDone: () => set(EMPTY),
  });
  const { fields, set, bind } = useFields(EMPTY, create.failure);
  const group = fields.group_id === '' ? `${groups[0]?.id ?? ''}` : fields.group_id;
  return (
    <Card title={say('clients.subnet.add')}>
      <SubmitForm
        onSubmit={() => {
          const { subnet_cidr: network, comment } = fields;
          void create.run({ body: { subnet_cidr: network.trim(), comment, group_id: Number(group) } });
        }}
      >
        <Stack>
          <FormFault failure={create.failure} fields={['subnet_cidr', 'group_id', 'comment']} />
          <TextField
            label={say('field.network')}
            help={say('clients.subnet.network.help')}
            {...bind('subnet_cidr')}
            isCode
            isRequired
          />
          <SelectField
            label={say('field.group')}
            {...bind('group_id')}
            value={group}
            choices={groups.map(({ id, name }) => ({ id: `${id}`, text: name }))}
          />
          <TextField label={say('field.comment')} {...bind('comment')} />
          <Button
            kind="main"
            type="submit"
            isDisabled={fields.subnet_cidr.trim() === ''}
            isPending={create.isPending}
          >
            {say('clients.subnet.add')}
          </Button>
        </Stack>
      </SubmitForm>
    </Card>
  );
}
