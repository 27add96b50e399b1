/** Forward zones, which their own servers or Weir itself answer. */
import { Split } from 'lucide-react';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { useAsk } from '../../api/use-ask.ts';
import { useChange, useChanges } from '../../api/use-change.ts';
import { useText } from '../../i18n/text.ts';
import { SwitchField, TextField } from '../../ui/controls/fields.tsx';
import { DataTable } from '../../ui/display/data-table.tsx';
import type { Column } from '../../ui/display/data-table.tsx';
import { DomainName } from '../../ui/display/values.tsx';
import { Confirm } from '../../ui/overlays/confirm.tsx';
import type { ForwardZone, ZoneFields } from './record-form.ts';
import { AddableList } from '../../ui/display/addable-list.tsx';
import { RowMenu } from '../../ui/overlays/menu.tsx';
import { ApiFailure } from '../../../../../shared/api/client/typed-client.ts';
import { FormFault } from '../../ui/display/states.tsx';
import { fieldsOfZone, serversOf } from './record-form.ts';
import { FormDialog } from '../../ui/overlays/form-dialog.tsx';
import { useFields } from '../../api/use-fields.ts';
import { useGuard } from '../../api/use-guard.ts';
import { ChangedSince, isSame } from '../../ui/overlays/changed-elsewhere.tsx';

export function ZoneList(): ReactNode {
  const { say } = useText();
  const zones = useAsk('GET /forward-zones', {});
  return (
    <AddableList
      of={zones}
      icon={Split}
      emptyTitle={say('zones.empty')}
      emptyText={say('zones.emptyText')}
      addText={say('zones.add')}
      form={(close) => <ZoneDialog zone={null} onClose={close} />}
    >
      {(all) => <Zones zones={all} />}
    </AddableList>
  );
}

function Zones({ zones }: { readonly zones: readonly ForwardZone[] }): ReactNode {
  const { say } = useText();
  const [edited, setEdited] = useState<ForwardZone | null>(null);
  const [deleted, setDeleted] = useState<ForwardZone | null>(null);
  const remove = useChange('DELETE /forward-zones/{id}', {
    done: 'zones.deleted',
    onDone: () => setDeleted(null),
  });
  const columns: readonly Column<ForwardZone>[] = [
    { id: 'zone', title: say('zones.zone'), isName: true, cell: ({ zone }) => <DomainName name={zone} /> },
    {
      id: 'servers',
      title: say('field.servers'),
      cell: ({ servers }) =>
        servers.length === 0 ? say('zones.here') : <bdi className="code">{servers.join(', ')}</bdi>,
    },
    {
      id: 'comment',
      title: say('field.comment'),
      isMinor: true,
      cell: ({ comment }) => <bdi>{comment}</bdi>,
    },
    {
      id: 'actions',
      title: say('field.actions'),
      isActions: true,
      isForAdmins: true,
      cell: (zone) => <Actions zone={zone} onEdit={setEdited} onDelete={setDeleted} />,
    },
  ];
  return (
    <>
      <DataTable label={say('names.tab.zones')} columns={columns} rows={zones} keyOf={({ id }) => id} />
      {edited !== null && <ZoneDialog zone={edited} onClose={() => setEdited(null)} />}
      {deleted !== null && (
        <Confirm
          title={say('action.deleteOf', { name: deleted.zone })}
          isPending={remove.isPending}
          onClose={() => setDeleted(null)}
          onConfirm={() => void remove.run({ params: { id: deleted.id } })}
        >
          <p>{say('zones.deleteText')}</p>
        </Confirm>
      )}
    </>
  );
}

interface ActionsProps {
  readonly zone: ForwardZone;
  readonly onEdit: (zone: ForwardZone) => void;
  readonly onDelete: (zone: ForwardZone) => void;
}

function Actions({ zone, onEdit, onDelete }: ActionsProps): ReactNode {
  const { say } = useText();
  const turn = useChange('PUT /forward-zones/{id}', { done: 'zones.changed' });
  return (
    <RowMenu name={zone.zone} onEdit={() => onEdit(zone)} onDelete={() => onDelete(zone)}>
      <SwitchField
        aria-label={say('zones.isOn', { zone: zone.zone })}
        isSelected={zone.enabled}
        isDisabled={turn.isPending}
        onChange={(enabled) => void turn.run({ params: { id: zone.id }, body: { enabled } })}
      >
        {null}
      </SwitchField>
    </RowMenu>
  );
}

interface ZoneDialogProps {
  /** The zone to edit; null to add a new one. */
  readonly zone: ForwardZone | null;
  readonly onClose: () => void;
}

/** The React key discards the draft when another zone is edited. */
function ZoneDialog({ zone, onClose }: ZoneDialogProps): ReactNode {
  const { say } = useText();
  const { run, failure, isPending } = useChanges({
    done: zone === null ? 'zones.created' : 'zones.changed',
    onDone: onClose,
    quiet: true,
  });
  const { fields, set, bind } = useFields(() => fieldsOfZone(zone), failure);
  const guard = useGuard({
    read: 'GET /forward-zones/{id}',
    id: zone?.id ?? null,
    isAsBegun: (now) => isSame(fieldsOfZone(now), fieldsOfZone(zone)),
    failure,
  });
  const servers = serversOf(fields.servers);
  const body = { zone: fields.zone.trim(), servers, comment: fields.comment.trim() };
  const save = (): void =>
    void (zone === null
      ? run('POST /forward-zones', { body })
      : run('PUT /forward-zones/{id}', { params: { id: zone.id }, body, ...guard.headers() }));
  const words = (of: ZoneFields): string[] => [
    of.zone.trim(),
    serversOf(of.servers).join(', '),
    of.comment.trim(),
  ];
  return (
    <FormDialog
      title={say(zone === null ? 'zones.add' : 'zones.edit')}
      isReady={body.zone !== ''}
      isPending={isPending}
      onSave={save}
      onClose={onClose}
    >
      <TextField label={say('zones.zone')} help={say('zones.zone.help')} {...bind('zone')} autoFocus isCode />
      <TextField
        label={say('field.servers')}
        help={say('zones.servers.help')}
        {...bind('servers', ...serverPaths(failure))}
        rows={3}
        isCode
      />
      <TextField label={say('field.comment')} {...bind('comment')} />
      <FormFault failure={guard.failure} fields={['zone', 'comment', ...serverPaths(failure)]} />
      <ChangedSince
        guard={guard}
        labels={[say('zones.zone'), say('field.servers'), say('field.comment')]}
        mine={words(fields)}
        wordsOf={(now) => words(fieldsOfZone(now))}
        isPending={isPending}
        onUse={(now) => set(fieldsOfZone(now))}
        onKeep={save}
      />
    </FormDialog>
  );
}

/** Paths of individual servers in an error, such as `servers.0`. */
function serverPaths(failure: Error | null): string[] {
  const errors = failure instanceof ApiFailure ? (failure.problem?.errors ?? []) : [];
  return errors.map(({ path }) => path).filter((path) => path.startsWith('servers'));
}
