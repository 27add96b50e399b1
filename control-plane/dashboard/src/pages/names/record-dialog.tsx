/** Creates a local record or changes one. */
import { useState } from 'react';
import type { ReactNode } from 'react';
import { fieldProblem } from '../../api/problem-text.ts';
import { useChange } from '../../api/use-change.ts';
import { useText } from '../../i18n/text.ts';
import { Button } from '../../ui/controls/button.tsx';
import { SelectField, TextField } from '../../ui/controls/fields.tsx';
import { FormFault } from '../../ui/display/form-fault.tsx';
import { Stack } from '../../ui/display/page.tsx';
import { Dialog } from '../../ui/overlays/dialog.tsx';
import { bodyOfRecord, fieldsOfRecord, isRecordReady, RECORD_TYPES } from './record-form.ts';
import type { LocalRecord, RecordFields } from './record-form.ts';

const FIELDS = ['fqdn', 'hostname', 'domain', 'record_type', 'value', 'ttl', 'comment'];

interface RecordDialogProps {
  /** Null = a new one. */
  readonly record: LocalRecord | null;
  readonly onClose: () => void;
}

/** The form; another one for each record, so that no draft is carried over. */
export function RecordDialog({ record, onClose }: RecordDialogProps): ReactNode {
  const { say } = useText();
  const [fields, setFields] = useState(() => fieldsOfRecord(record));
  const set = (changed: Partial<RecordFields>): void => setFields({ ...fields, ...changed });
  const create = useChange('POST /local-records', { done: 'names.created', onDone: onClose, quiet: true });
  const change = useChange('PUT /local-records/{id}', {
    done: 'names.changed',
    onDone: onClose,
    quiet: true,
  });
  const { failure, isPending } = record === null ? create : change;
  const problem = (...paths: string[]): string | null =>
    paths.map((path) => fieldProblem(failure, path)).find((text) => text !== null) ?? null;
  const save = (): void => {
    const body = bodyOfRecord(fields);
    if (record === null) void create.run({ body });
    else if (record.id !== null) void change.run({ params: { id: record.id }, body });
  };
  return (
    <Dialog
      title={say(record === null ? 'names.add' : 'names.edit')}
      isOpen
      onClose={onClose}
      actions={
        <>
          <Button onPress={onClose}>{say('action.cancel')}</Button>
          <Button kind="main" isDisabled={!isRecordReady(fields)} isPending={isPending} onPress={save}>
            {say('action.save')}
          </Button>
        </>
      }
    >
      <Stack>
        <TextField
          label={say('field.name')}
          help={say('names.name.help')}
          value={fields.fqdn}
          onChange={(fqdn) => set({ fqdn })}
          error={problem('fqdn', 'hostname', 'domain')}
          autoFocus
          isCode
        />
        <SelectField
          label={say('field.type')}
          value={fields.type}
          onChange={(type) => set({ type })}
          error={problem('record_type')}
          choices={[
            ...(record === null ? [{ id: 'auto' as const, text: say('names.type.auto') }] : []),
            ...RECORD_TYPES.map((id) => ({ id, text: `${id} · ${say(`names.type.${id}`)}` })),
          ]}
        />
        <TextField
          label={say('names.value')}
          help={say(`names.value.${fields.type}`)}
          value={fields.value}
          onChange={(value) => set({ value })}
          error={problem('value', 'ip')}
          isCode
        />
        <TextField
          label={say('names.ttl')}
          help={say('names.ttl.help')}
          value={fields.ttl}
          onChange={(ttl) => set({ ttl })}
          error={problem('ttl')}
          inputMode="numeric"
        />
        <TextField
          label={say('field.comment')}
          value={fields.comment}
          onChange={(comment) => set({ comment })}
          error={problem('comment')}
        />
        <FormFault failure={failure} fields={FIELDS} />
      </Stack>
    </Dialog>
  );
}
