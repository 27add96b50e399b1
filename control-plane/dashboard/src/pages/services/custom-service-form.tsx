/** Form of a custom service, which consists of a name and its domains. */
import type { ReactNode } from 'react';
import { useAsk } from '../../api/use-ask.ts';
import { useText } from '../../i18n/text.ts';
import { FormFault } from '../../ui/display/states.tsx';
import { SelectField, TextField } from '../../ui/controls/fields.tsx';
import { FormDialog } from '../../ui/overlays/form-dialog.tsx';
import type { Service } from '../../ui/policy/service-blocks.ts';
import { faultText } from '../../api/faults/fault-texts.ts';
import { useChanges } from '../../api/use-change.ts';
import { useFields } from '../../api/use-fields.ts';
import { useGuard } from '../../api/use-guard.ts';
import { ChangedSince, isSame } from '../../ui/overlays/changed-elsewhere.tsx';
import { domainFault, domainsOf } from './domain-lines.ts';

interface CustomServiceFormProps {
  /** The service to edit; null to add a new one. */
  readonly service: Service | null;
  readonly onClose: () => void;
}

type Fields = ReturnType<typeof fieldsOf>;

/** Form values of an existing or a new custom service. */
function fieldsOf(service: Pick<Service, 'name' | 'category' | 'domains'> | null) {
  if (service === null) return { name: '', category: 'social_media' as Service['category'], lines: '' };
  return { name: service.name, category: service.category, lines: service.domains.join('\n') };
}

export function CustomServiceForm({ service, onClose }: CustomServiceFormProps): ReactNode {
  const { say } = useText();
  const { data: categories = [] } = useAsk('GET /services/categories', {});
  const { run, failure, isPending } = useChanges({
    done: service === null ? 'services.created' : 'services.changed',
    quiet: true,
    onDone: onClose,
  });
  const { fields, set, bind } = useFields(() => fieldsOf(service), failure);
  const guard = useGuard({
    read: 'GET /custom-services/{service_id}',
    id: service?.id ?? null,
    by: 'service_id',
    isAsBegun: (now) => isSame(fieldsOf(now), fieldsOf(service)),
    failure,
  });
  const domains = domainsOf(fields.lines);
  const badDomain = domainFault(failure, domains, faultText);
  const body = { name: fields.name.trim(), category: fields.category, domains };
  const save = (): void =>
    void (service === null
      ? run('POST /custom-services', { body })
      : run('PATCH /custom-services/{service_id}', {
          params: { service_id: service.id },
          body,
          ...guard.headers(),
        }));
  const words = ({ name, category, lines }: Fields): string[] => [
    name.trim(),
    say(`services.category.${category}`),
    domainsOf(lines).join(', '),
  ];
  return (
    <FormDialog
      title={service === null ? say('services.add') : say('action.editOf', { name: service.name })}
      saveText={say(service === null ? 'services.add' : 'action.save')}
      isPending={isPending}
      onSave={save}
      onClose={onClose}
    >
      {badDomain === null && <FormFault failure={guard.failure} fields={['name', 'category']} />}
      <ChangedSince
        guard={guard}
        labels={[say('field.service'), say('services.category'), say('field.domains')]}
        mine={words(fields)}
        wordsOf={(now) => words(fieldsOf(now))}
        isPending={isPending}
        onUse={(now) => set(fieldsOf(now))}
        onKeep={save}
      />
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
