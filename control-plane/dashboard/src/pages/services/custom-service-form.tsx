/** Form of a custom service, which is a name for some domains. */
import type { ReactNode } from 'react';
import { useAsk } from '../../api/use-ask.ts';
import { useText } from '../../i18n/text.ts';
import { FormFault } from '../../ui/display/states.tsx';
import { SelectField, TextField } from '../../ui/controls/fields.tsx';
import { FormDialog } from '../../ui/overlays/form-dialog.tsx';
import type { Service } from '../../ui/policy/service-blocks.ts';
import { useChanges } from '../../api/use-change.ts';
import { useFields } from '../../api/use-fields.ts';
import { domainFault, domainsOf } from './domain-lines.ts';

interface CustomServiceFormProps {
  /** Null to create one. */
  readonly service: Service | null;
  readonly onClose: () => void;
}

export function CustomServiceForm({ service, onClose }: CustomServiceFormProps): ReactNode {
  const { say } = useText();
  const { data: categories = [] } = useAsk('GET /services/categories', {});
  const { run, failure, isPending } = useChanges({
    done: service === null ? 'services.created' : 'services.changed',
    quiet: true,
    onDone: onClose,
  });
  const start = {
    name: service?.name ?? '',
    category: service?.category ?? 'social_media',
    lines: service?.domains.join('\n') ?? '',
  };
  const { fields, bind } = useFields(start, failure);
  const domains = domainsOf(fields.lines);
  const badDomain = domainFault(failure, domains);
  const body = { name: fields.name.trim(), category: fields.category, domains };
  return (
    <FormDialog
      title={service === null ? say('services.add') : say('action.editOf', { name: service.name })}
      saveText={say(service === null ? 'services.add' : 'action.save')}
      isPending={isPending}
      onSave={() =>
        void (service === null
          ? run('POST /custom-services', { body })
          : run('PATCH /custom-services/{service_id}', { params: { service_id: service.id }, body }))
      }
      onClose={onClose}
    >
      {badDomain === null && <FormFault failure={failure} fields={['name', 'category']} />}
      <TextField label={say('field.service')} {...bind('name')} autoFocus />
      <SelectField
        label={say('services.category')}
        {...bind('category')}
        choices={categories.map(({ id }) => ({ id, text: say(`services.category.${id}`) }))}
      />
      <TextField
        label={say('field.domains')}
        help={say('services.field.domains.help')}
        {...bind('lines')}
        error={badDomain}
        rows={8}
        isCode
      />
    </FormDialog>
  );
}
