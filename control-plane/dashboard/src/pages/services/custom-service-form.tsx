/** A service of one's own: a name for some domains. */
import { useState } from 'react';
import type { ReactNode } from 'react';
import { fieldProblem } from '../../api/problem-text.ts';
import { useAsk } from '../../api/use-ask.ts';
import { useChange } from '../../api/use-change.ts';
import { useText } from '../../i18n/text.ts';
import { FormFault } from '../../ui/display/form-fault.tsx';
import { SelectField, TextField } from '../../ui/controls/fields.tsx';
import { FormDialog } from '../../ui/overlays/form-dialog.tsx';
import type { Service } from '../../ui/policy/service-blocks.ts';
import { domainFault, domainsOf } from './domain-lines.ts';

interface CustomServiceFormProps {
  /** Null = a new one. */
  readonly service: Service | null;
  readonly onClose: () => void;
}

/** The form in a window. */
export function CustomServiceForm({ service, onClose }: CustomServiceFormProps): ReactNode {
  const { say } = useText();
  const { data: categories = [] } = useAsk('GET /services/categories', {});
  const [name, setName] = useState(service?.name ?? '');
  const [category, setCategory] = useState<string>(service?.category ?? 'social_media');
  const [lines, setLines] = useState(service?.domains.join('\n') ?? '');
  const create = useChange('POST /custom-services', { done: 'services.created', quiet: true });
  const update = useChange('PATCH /custom-services/{service_id}', { done: 'services.changed', quiet: true });
  const failure = create.failure ?? update.failure;
  const domains = domainsOf(lines);
  const badDomain = domainFault(failure, domains);

  async function save(): Promise<void> {
    const body = { name: name.trim(), category, domains };
    const isDone =
      service === null
        ? await create.run({ body })
        : await update.run({ params: { service_id: service.id }, body });
    if (isDone) onClose();
  }

  return (
    <FormDialog
      title={service === null ? say('services.add') : say('action.editOf', { name: service.name })}
      saveText={say(service === null ? 'services.add' : 'action.save')}
      isPending={create.isPending || update.isPending}
      onSave={() => void save()}
      onClose={onClose}
    >
      {badDomain === null && <FormFault failure={failure} fields={['name', 'category']} />}
      <TextField
        label={say('field.service')}
        error={fieldProblem(failure, 'name')}
        value={name}
        onChange={setName}
        autoFocus
      />
      <SelectField
        label={say('services.category')}
        error={fieldProblem(failure, 'category')}
        value={category}
        onChange={setCategory}
        choices={categories.map(({ id }) => ({ id, text: say(`services.category.${id}`) }))}
      />
      <TextField
        label={say('services.field.domains')}
        help={say('services.field.domains.help')}
        error={badDomain}
        value={lines}
        onChange={setLines}
        rows={8}
        isCode
      />
    </FormDialog>
  );
}
