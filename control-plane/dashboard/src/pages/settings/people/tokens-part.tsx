/** API tokens; the key of a token is shown only once, after the token was created. */
import { KeyRound, Trash2 } from 'lucide-react';
import { useState } from 'react';
import type { ReactNode } from 'react';
import type { AnswerOf } from '../../../../../../shared/api/client/typed-client.ts';
import { fieldProblem } from '../../../api/problem-text.ts';
import { useAsk } from '../../../api/use-ask.ts';
import { useChange } from '../../../api/use-change.ts';
import { useText } from '../../../i18n/text.ts';
import { Button, IconButton } from '../../../ui/controls/button.tsx';
import { CopyField } from '../../../ui/controls/copy-field.tsx';
import { TextField } from '../../../ui/controls/fields.tsx';
import { DataTable } from '../../../ui/display/data-table.tsx';
import { Card } from '../../../ui/display/page.tsx';
import { Answered, Callout, Empty, FormFault } from '../../../ui/display/states.tsx';
import { Moment } from '../../../ui/display/values.tsx';
import { Confirm } from '../../../ui/overlays/confirm.tsx';
import { AddWith } from '../../../ui/controls/add-button.tsx';
import type { TokenRole } from './user-dialog.tsx';
import { RoleField, TOKEN_ROLES } from './user-dialog.tsx';
import { Dialog } from '../../../ui/overlays/dialog.tsx';

type Token = AnswerOf<'GET /api-tokens'>[number];

export default function TokensPart(): ReactNode {
  const { say } = useText();
  const tokens = useAsk('GET /api-tokens', {});
  const [dropped, setDropped] = useState<Token | null>(null);
  const remove = useChange('DELETE /api-tokens/{id}', {
    done: 'settings.token.deleted',
    onDone: () => setDropped(null),
  });
  return (
    <Card
      title={say('settings.part.tokens')}
      actions={
        <AddWith text={say('settings.token.create')} form={(close) => <TokenDialog onClose={close} />} />
      }
    >
      <Answered of={tokens}>
        {(rows) => (
          <DataTable
            label={say('settings.part.tokens')}
            rows={rows}
            keyOf={({ id }) => id}
            columns={[
              {
                id: 'name',
                title: say('field.name'),
                isName: true,
                cell: ({ name, prefix }) => (
                  <>
                    <bdi>{name}</bdi> <code>{`${prefix}…`}</code>
                  </>
                ),
              },
              { id: 'role', title: say('settings.role'), cell: ({ role }) => say(`settings.role.${role}`) },
              {
                id: 'made',
                title: say('settings.token.made'),
                cell: ({ created_at: at }) => <Moment at={at} />,
              },
              {
                id: 'used',
                title: say('settings.token.used'),
                cell: ({ last_used_at: at }) => (at === null ? say('word.never') : <Moment at={at} />),
              },
              {
                id: 'actions',
                title: say('action.delete'),
                isActions: true,
                cell: (token) => (
                  <IconButton
                    icon={Trash2}
                    label={say('settings.token.delete', { name: token.name })}
                    onPress={() => setDropped(token)}
                  />
                ),
              },
            ]}
            empty={
              <Empty icon={KeyRound} title={say('settings.token.none')}>
                <p>{say('settings.token.none.help')}</p>
              </Empty>
            }
          />
        )}
      </Answered>
      {dropped !== null && (
        <Confirm
          title={say('settings.token.delete', { name: dropped.name })}
          isPending={remove.isPending}
          onConfirm={() => void remove.run({ params: { id: dropped.id } })}
          onClose={() => setDropped(null)}
        >
          <p>{say('settings.token.delete.text')}</p>
        </Confirm>
      )}
    </Card>
  );
}

function TokenDialog({ onClose }: { readonly onClose: () => void }): ReactNode {
  const { say } = useText();
  const [name, setName] = useState('');
  const [role, setRole] = useState<TokenRole>('viewer');
  const [key, setKey] = useState<string | null>(null);
  const make = useChange('POST /api-tokens', { quiet: true, onDone: (made) => setKey(made.key) });
  return (
    <Dialog
      title={say('settings.token.create')}
      isOpen
      onClose={onClose}
      isKept={key !== null}
      actions={
        key === null ? (
          <>
            <Button onPress={onClose}>{say('action.cancel')}</Button>
            <Button
              kind="main"
              isPending={make.isPending}
              onPress={() => void make.run({ body: { name: name.trim(), role } })}
            >
              {say('settings.create')}
            </Button>
          </>
        ) : (
          <Button kind="main" onPress={onClose}>
            {say('settings.kept')}
          </Button>
        )
      }
    >
      {key === null ? (
        <>
          <FormFault failure={make.failure} fields={['name']} />
          <TextField
            label={say('field.name')}
            help={say('settings.token.name.help')}
            value={name}
            onChange={setName}
            error={fieldProblem(make.failure, 'name')}
            autoFocus
          />
          <RoleField roles={TOKEN_ROLES} value={role} onChange={setRole} />
        </>
      ) : (
        <>
          <Callout tone="warning">{say('settings.once')}</Callout>
          <CopyField label={say('settings.token.key')} text={key} />
        </>
      )}
    </Dialog>
  );
}
