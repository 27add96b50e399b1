/** Creates a forward zone or changes one. */
import type { ReactNode } from 'react';
import { ApiFailure } from '../../../../../shared/api/client/typed-client.ts';
import { useText } from '../../i18n/text.ts';
import { TextField } from '../../ui/controls/fields.tsx';
import { FormFault } from '../../ui/display/states.tsx';
import { serversOf } from './record-form.ts';
import { FormDialog } from '../../ui/overlays/form-dialog.tsx';
import { useChanges } from '../../api/use-change.ts';
import { useFields } from '../../api/use-fields.ts';
import type { ForwardZone } from './record-form.ts';

interface ZoneDialogProps {
  /** Null = a new one. */
  readonly zone: ForwardZone | null;
  readonly onClose: () => void;
}

/** The form; another one for each zone, so that no draft is carried over. */
export function ZoneDialog({ zone, onClose }: ZoneDialogProps): ReactNode {
  const { say } = useText();
  const { run, failure, isPending } = useChanges({
    done: zone === null ? 'zones.created' : 'zones.changed',
    onDone: onClose,
    quiet: true,
  });
  const start = {
    zone: zone?.zone ?? '',
    servers: zone?.servers.join('\n') ?? '',
    comment: zone?.comment ?? '',
  };
  const { fields, bind } = useFields(start, failure);
  const servers = serversOf(fields.servers);
  const body = { zone: fields.zone.trim(), servers, comment: fields.comment.trim() };
  return (
    <FormDialog
      title={say(zone === null ? 'zones.add' : 'zones.edit')}
      isReady={body.zone !== '' && servers.length > 0}
      isPending={isPending}
      onSave={() =>
        void (zone === null
          ? run('POST /forward-zones', { body })
          : run('PUT /forward-zones/{id}', { params: { id: zone.id }, body }))
      }
      onClose={onClose}
    >
      <TextField label={say('zones.zone')} help={say('zones.zone.help')} {...bind('zone')} autoFocus isCode />
      <TextField
        label={say('zones.servers')}
        help={say('zones.servers.help')}
        {...bind('servers', ...serverPaths(failure))}
        rows={3}
        isCode
      />
      <TextField label={say('field.comment')} {...bind('comment')} />
      <FormFault failure={failure} fields={['zone', 'comment', ...serverPaths(failure)]} />
    </FormDialog>
  );
}

/** Each server has a path of its own: `servers.0`. */
function serverPaths(failure: Error | null): string[] {
  const errors = failure instanceof ApiFailure ? (failure.problem?.errors ?? []) : [];
  return errors.map(({ path }) => path).filter((path) => path.startsWith('servers'));
}
