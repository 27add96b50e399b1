/** Zones that are asked from servers of their own. */
import { EllipsisVertical, Pencil, Plus, Split, Trash2 } from 'lucide-react';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { ForAdmins, useMe } from '../../api/session.tsx';
import { useAsk } from '../../api/use-ask.ts';
import { useChange } from '../../api/use-change.ts';
import { useText } from '../../i18n/text.ts';
import { Button, IconButton } from '../../ui/controls/button.tsx';
import { SwitchField } from '../../ui/controls/fields.tsx';
import { DataTable } from '../../ui/display/data-table.tsx';
import type { Column } from '../../ui/display/data-table.tsx';
import { Answered, Empty } from '../../ui/display/states.tsx';
import { DomainName } from '../../ui/display/values.tsx';
import { Confirm } from '../../ui/overlays/confirm.tsx';
import { Menu } from '../../ui/overlays/menu.tsx';
import styles from './names-page.module.css';
import type { ForwardZone } from './record-form.ts';
import { ZoneDialog } from './zone-dialog.tsx';

/** The zones. */
export function ZoneList(): ReactNode {
  const { say } = useText();
  const zones = useAsk('GET /forward-zones', {});
  /** 'new', or the one that is changed. */
  const [edited, setEdited] = useState<ForwardZone | 'new' | null>(null);
  const add = (
    <ForAdmins>
      <Button kind="main" icon={Plus} onPress={() => setEdited('new')}>
        {say('zones.add')}
      </Button>
    </ForAdmins>
  );
  return (
    <>
      <Answered of={zones}>
        {(all) =>
          all.length === 0 ? (
            <Empty icon={Split} title={say('zones.empty')}>
              <p>{say('zones.emptyText')}</p>
              {add}
            </Empty>
          ) : (
            <>
              <div>{add}</div>
              <Zones zones={all} onEdit={setEdited} />
            </>
          )
        }
      </Answered>
      {edited !== null && (
        <ZoneDialog zone={edited === 'new' ? null : edited} onClose={() => setEdited(null)} />
      )}
    </>
  );
}

interface ZonesProps {
  readonly zones: readonly ForwardZone[];
  readonly onEdit: (zone: ForwardZone) => void;
}

function Zones({ zones, onEdit }: ZonesProps): ReactNode {
  const { say } = useText();
  const { isAdmin } = useMe();
  const [deleted, setDeleted] = useState<ForwardZone | null>(null);
  const remove = useChange('DELETE /forward-zones/{id}', {
    done: 'zones.deleted',
    onDone: () => setDeleted(null),
  });
  const columns: Column<ForwardZone>[] = [
    { id: 'zone', title: say('zones.zone'), isName: true, cell: ({ zone }) => <DomainName name={zone} /> },
    {
      id: 'servers',
      title: say('zones.servers'),
      cell: ({ servers }) => <bdi className={styles['code']}>{servers.join(', ')}</bdi>,
    },
    {
      id: 'comment',
      title: say('field.comment'),
      isMinor: true,
      cell: ({ comment }) => <bdi>{comment}</bdi>,
    },
  ];
  if (isAdmin)
    columns.push({
      id: 'actions',
      title: say('field.actions'),
      isActions: true,
      cell: (zone) => <Actions zone={zone} onEdit={onEdit} onDelete={setDeleted} />,
    });
  return (
    <>
      <DataTable label={say('names.tab.zones')} columns={columns} rows={zones} keyOf={({ id }) => id} />
      {deleted !== null && (
        <Confirm
          title={say('zones.delete', { zone: deleted.zone })}
          action={say('action.delete')}
          isOpen
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
  const name = say('field.actionsOf', { name: zone.zone });
  return (
    <span className={styles['actions']}>
      <SwitchField
        aria-label={say('zones.isOn', { zone: zone.zone })}
        isSelected={zone.enabled}
        isDisabled={turn.isPending}
        onChange={(enabled) => void turn.run({ params: { id: zone.id }, body: { enabled } })}
      >
        {null}
      </SwitchField>
      <Menu
        label={name}
        button={<IconButton icon={EllipsisVertical} label={name} />}
        actions={[
          { id: 'edit', text: say('action.edit'), icon: Pencil, run: () => onEdit(zone) },
          {
            id: 'delete',
            text: say('action.delete'),
            icon: Trash2,
            isDanger: true,
            run: () => onDelete(zone),
          },
        ]}
      />
    </span>
  );
}
