/** Creates a local record or changes one. */
import type { ReactNode } from 'react';
import { useText } from '../../i18n/text.ts';
import { SelectField, TextField } from '../../ui/controls/fields.tsx';
import { FormFault } from '../../ui/display/states.tsx';
import { bodyOfRecord, fieldsOfRecord, isRecordReady, RECORD_TYPES } from './record-form.ts';
import { FormDialog } from '../../ui/overlays/form-dialog.tsx';
import { useChanges } from '../../api/use-change.ts';
import { useFields } from '../../api/use-fields.ts';
import type { LocalRecord } from './record-form.ts';

const FIELDS = ['fqdn', 'hostname', 'domain', 'record_type', 'value', 'ttl', 'comment'];

interface RecordDialogProps {
  /** Null = a new one. */
  readonly record: LocalRecord | null;
  readonly onClose: () => void;
}

/** The form; another one for each record, so that no draft is carried over. */
export function RecordDialog({ record, onClose }: RecordDialogProps): ReactNode {
  const { say } = useText();
  const { run, failure, isPending } = useChanges({
    done: record === null ? 'names.created' : 'names.changed',
    onDone: onClose,
    quiet: true,
  });
  const { fields, bind } = useFields(() => fieldsOfRecord(record), failure);
  const save = (): void => {
    const body = bodyOfRecord(fields);
    if (record === null) void run('POST /local-records', { body });
    else if (record.id !== null) void run('PUT /local-records/{id}', { params: { id: record.id }, body });
  };
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
        label={say('names.value')}
        help={say(`names.value.${fields.type}`)}
        {...bind('value', 'value', 'ip')}
        isCode
      />
      <TextField label={say('names.ttl')} help={say('names.ttl.help')} {...bind('ttl')} inputMode="numeric" />
      <TextField label={say('field.comment')} {...bind('comment')} />
      <FormFault failure={failure} fields={FIELDS} />
    </FormDialog>
  );
}
