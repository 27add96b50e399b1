/** Local records from this page, the configuration and DHCP leases. */
import { Tags } from 'lucide-react';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { useAsk } from '../../api/use-ask.ts';
import { useChange, useChanges } from '../../api/use-change.ts';
import { useUrlState } from '../../api/url-state.ts';
import { useText } from '../../i18n/text.ts';
import { Button } from '../../ui/controls/button.tsx';
import { SelectField, TextField } from '../../ui/controls/fields.tsx';
import { Pager } from '../../ui/controls/pager.tsx';
import { DataTable } from '../../ui/display/data-table.tsx';
import type { Column } from '../../ui/display/data-table.tsx';
import { Empty, FormFault } from '../../ui/display/states.tsx';
import { Badge, DomainName } from '../../ui/display/values.tsx';
import { Confirm } from '../../ui/overlays/confirm.tsx';
import { bodyOfRecord, fieldsOfRecord, fittingRecords, isRecordReady, RECORD_TYPES } from './record-form.ts';
import { AddableList } from '../../ui/display/addable-list.tsx';
import { Filters } from '../../ui/display/filters.tsx';
import { RowMenu } from '../../ui/overlays/menu.tsx';
import type { LocalRecord, RecordFields } from './record-form.ts';
import { FormDialog } from '../../ui/overlays/form-dialog.tsx';
import { useFields } from '../../api/use-fields.ts';
import { useGuard } from '../../api/use-guard.ts';
import { ChangedSince, isSame } from '../../ui/overlays/changed-elsewhere.tsx';

const DEFAULTS = { search: '', type: '', source: '', from: '0' };
const PAGE_SIZE = 50;
const SOURCES = ['api', 'config', 'dhcp'] as const;

export function RecordList(): ReactNode {
  const { say } = useText();
  const records = useAsk('GET /local-records', {});
  return (
    <AddableList
      of={records}
      icon={Tags}
      emptyTitle={say('names.empty')}
      emptyText={say('names.emptyText')}
      addText={say('names.add')}
      form={(close) => <RecordDialog record={null} onClose={close} />}
    >
      {(all) => <Records records={all} />}
    </AddableList>
  );
}

function Records({ records }: { readonly records: readonly LocalRecord[] }): ReactNode {
  const { say, format } = useText();
  const [filter, setFields] = useUrlState(DEFAULTS);
  const [edited, setEdited] = useState<LocalRecord | null>(null);
  const [deleted, setDeleted] = useState<LocalRecord | null>(null);
  const remove = useChange('DELETE /local-records/{id}', {
    done: 'names.deleted',
    onDone: () => setDeleted(null),
  });
  const rows = fittingRecords(records, filter);
  const from = Math.min(Number(filter.from) || 0, Math.max(0, rows.length - 1));
  const columns: readonly Column<LocalRecord>[] = [
    { id: 'name', title: say('field.name'), isName: true, cell: ({ fqdn }) => <DomainName name={fqdn} /> },
    { id: 'type', title: say('field.type'), cell: ({ record_type: type }) => type },
    {
      id: 'value',
      title: say('field.value'),
      cell: ({ value }) => <bdi className="code">{value}</bdi>,
    },
    {
      id: 'ttl',
      title: say('names.ttl'),
      isNumber: true,
      isMinor: true,
      cell: ({ ttl }) => format.span(ttl),
    },
    {
      id: 'source',
      title: say('names.source'),
      cell: ({ source }) => <Badge tone="plain">{say(`names.source.${source}`)}</Badge>,
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
      cell: (record) =>
        record.source !== 'api' ? null : (
          <RowMenu name={record.fqdn} onEdit={() => setEdited(record)} onDelete={() => setDeleted(record)} />
        ),
    },
  ];
  return (
    <>
      <Filters
        label={say('names.search')}
        search={filter.search}
        onSearch={(text) => setFields({ search: text, from: '0' }, { replace: true })}
      >
        <SelectField
          label={say('field.type')}
          isLabelHidden
          value={filter.type}
          onChange={(chosen) => setFields({ type: chosen, from: '0' })}
          choices={[{ id: '', text: say('names.anyType') }, ...RECORD_TYPES.map((id) => ({ id, text: id }))]}
        />
        <SelectField
          label={say('names.source')}
          isLabelHidden
          value={filter.source}
          onChange={(chosen) => setFields({ source: chosen, from: '0' })}
          choices={[
            { id: '', text: say('names.anySource') },
            ...SOURCES.map((id) => ({ id, text: say(`names.source.${id}`) })),
          ]}
        />
      </Filters>
      <DataTable
        label={say('names.tab.records')}
        columns={columns}
        rows={rows.slice(from, from + PAGE_SIZE)}
        keyOf={({ id, fqdn, record_type: type, value }) => id ?? `${fqdn} ${type} ${value}`}
        empty={
          <Empty icon={Tags} title={say('names.none')}>
            <Button onPress={() => setFields(DEFAULTS)}>{say('action.clearFilter')}</Button>
          </Empty>
        }
      />
      <Pager
        total={rows.length}
        limit={PAGE_SIZE}
        offset={from}
        onMove={(offset) => setFields({ from: `${offset}` })}
      />
      {edited !== null && <RecordDialog record={edited} onClose={() => setEdited(null)} />}
      {deleted !== null && (
        <Confirm
          title={say('action.deleteOf', { name: deleted.fqdn })}
          isPending={remove.isPending}
          onClose={() => setDeleted(null)}
          onConfirm={() => deleted.id !== null && void remove.run({ params: { id: deleted.id } })}
        >
          <p>
            {deleted.record_type} <bdi className="code">{deleted.value}</bdi>
          </p>
        </Confirm>
      )}
    </>
  );
}

const FIELDS = ['fqdn', 'hostname', 'domain', 'record_type', 'value', 'ttl', 'comment'];

interface RecordDialogProps {
  /** The record to edit; null to add a new one. */
  readonly record: LocalRecord | null;
  readonly onClose: () => void;
}

/** The React key discards the draft when another record is edited. */
function RecordDialog({ record, onClose }: RecordDialogProps): ReactNode {
  const { say } = useText();
  const { run, failure, isPending } = useChanges({
    done: record === null ? 'names.created' : 'names.changed',
    onDone: onClose,
    quiet: true,
  });
  const { fields, set, bind } = useFields(() => fieldsOfRecord(record), failure);
  const guard = useGuard({
    read: 'GET /local-records/{id}',
    id: record?.id ?? null,
    isAsBegun: (now) => isSame(fieldsOfRecord(now), fieldsOfRecord(record)),
    failure,
  });
  const save = (): void => {
    const body = bodyOfRecord(fields);
    if (record === null) void run('POST /local-records', { body });
    else if (record.id !== null)
      void run('PUT /local-records/{id}', { params: { id: record.id }, body, ...guard.headers() });
  };
  const labels = [say('field.name'), say('field.type'), say('field.value'), say('names.ttl'), say('field.comment')]; // prettier-ignore
  const words = ({ fqdn, type, value, ttl, comment }: RecordFields): string[] =>
    [fqdn, type, value, ttl, comment].map((text) => text.trim());
  return (
    <FormDialog
      title={say(record === null ? 'names.add' : 'names.edit')}
      isReady={isRecordReady(fields)}
      isPending={isPending}
      onSave={save}
      onClose={onClose}
    >
      <TextField
        label={say('field.name')}
        help={say('names.name.help')}
        {...bind('fqdn', 'fqdn', 'hostname', 'domain')}
        autoFocus
        isCode
      />
      <SelectField
        label={say('field.type')}
        {...bind('type', 'record_type')}
        choices={[
          ...(record === null ? [{ id: 'auto' as const, text: say('names.type.auto') }] : []),
          ...RECORD_TYPES.map((id) => ({ id, text: `${id} · ${say(`names.type.${id}`)}` })),
        ]}
      />
      <TextField
        label={say('field.value')}
        help={say(`names.value.${fields.type}`)}
        {...bind('value', 'value', 'ip')}
        isCode
      />
      <TextField label={say('names.ttl')} help={say('names.ttl.help')} {...bind('ttl')} inputMode="numeric" />
      <TextField label={say('field.comment')} {...bind('comment')} />
      <FormFault failure={guard.failure} fields={FIELDS} />
      <ChangedSince
        guard={guard}
        labels={labels}
        mine={words(fields)}
        wordsOf={(now) => words(fieldsOfRecord(now))}
        isPending={isPending}
        onUse={(now) => set(fieldsOfRecord(now))}
        onKeep={save}
      />
    </FormDialog>
  );
}
