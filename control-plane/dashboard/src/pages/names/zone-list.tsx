/** Zones that are asked from servers of their own. */
import { Split } from 'lucide-react';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { useAsk } from '../../api/use-ask.ts';
import { useChange } from '../../api/use-change.ts';
import { useText } from '../../i18n/text.ts';
import { SwitchField } from '../../ui/controls/fields.tsx';
import { DataTable } from '../../ui/display/data-table.tsx';
import type { Column } from '../../ui/display/data-table.tsx';
import { DomainName } from '../../ui/display/values.tsx';
import { Confirm } from '../../ui/overlays/confirm.tsx';
import type { ForwardZone } from './record-form.ts';
import { AddableList } from '../../ui/display/addable-list.tsx';
import { RowMenu } from '../../ui/overlays/menu.tsx';
import { ZoneDialog } from './zone-dialog.tsx';

/** The zones. */
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
      title: say('zones.servers'),
      cell: ({ servers }) => <bdi className="code">{servers.join(', ')}</bdi>,
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
          title={say('zones.delete', { zone: deleted.zone })}
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
