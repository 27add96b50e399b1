/** Temporarily allows a service on one device; the service is blocked for the device's group. */
import { useState } from 'react';
import type { ReactNode } from 'react';
import { useAsk } from '../../api/use-ask.ts';
import { useChange } from '../../api/use-change.ts';
import { useText } from '../../i18n/text.ts';
import { SelectField } from '../../ui/controls/fields.tsx';
import { Answered, FormFault } from '../../ui/display/states.tsx';
import { FormDialog } from '../../ui/overlays/form-dialog.tsx';
import { grantEnd } from './grant-spans.ts';
import type { Span } from './grant-spans.ts';
import { SpanField } from './span-field.tsx';

interface ServiceDialogProps {
  readonly clientId: number;
  /** Name of the device. */
  readonly name: string;
  readonly onClose: () => void;
}

export function ServiceDialog({ clientId, name, onClose }: ServiceDialogProps): ReactNode {
  const { say } = useText();
  const [service, setService] = useState('');
  const [span, setSpan] = useState<Span>('1800');
  const services = useAsk('GET /clients/{id}/services', { params: { id: clientId } });
  const create = useChange('POST /grants', { done: 'grants.nameAllowed', onDone: onClose, quiet: true });
  return (
    <FormDialog
      title={say('grants.allowServiceOf', { name })}
      saveText={say('grants.start')}
      isReady={service !== ''}
      isPending={create.isPending}
      onSave={() =>
        void create.run({
          body: { client_id: clientId, service_id: service, ...grantEnd(span, new Date()).body },
        })
      }
      onClose={onClose}
    >
      <Answered of={services} lines={2}>
        {(blocked) =>
          blocked.length === 0 ? (
            <p>{say('grants.noServices')}</p>
          ) : (
            <>
              <SelectField
                label={say('field.service')}
                value={service}
                onChange={setService}
                choices={blocked.map(({ service_id: id, name: text }) => ({ id, text }))}
              />
              <SpanField value={span} onChange={setSpan} />
            </>
          )
        }
      </Answered>
      <FormFault failure={create.failure} fields={[]} />
    </FormDialog>
  );
}
