/** Creates a forward zone or changes one. */
import { useState } from 'react';
import type { ReactNode } from 'react';
import { ApiFailure } from '../../../../../shared/api/client/typed-client.ts';
import { fieldProblem } from '../../api/problem-text.ts';
import { useChange } from '../../api/use-change.ts';
import { useText } from '../../i18n/text.ts';
import { Button } from '../../ui/controls/button.tsx';
import { TextField } from '../../ui/controls/fields.tsx';
import { FormFault } from '../../ui/display/form-fault.tsx';
import { Stack } from '../../ui/display/page.tsx';
import { Dialog } from '../../ui/overlays/dialog.tsx';
import { serversOf } from './record-form.ts';
import type { ForwardZone } from './record-form.ts';

interface ZoneDialogProps {
  /** Null = a new one. */
  readonly zone: ForwardZone | null;
  readonly onClose: () => void;
}

/** The form; another one for each zone, so that no draft is carried over. */
export function ZoneDialog({ zone, onClose }: ZoneDialogProps): ReactNode {
  const { say } = useText();
  const [name, setName] = useState(zone?.zone ?? '');
  const [servers, setServers] = useState(zone?.servers.join('\n') ?? '');
  const [comment, setComment] = useState(zone?.comment ?? '');
  const create = useChange('POST /forward-zones', { done: 'zones.created', onDone: onClose, quiet: true });
  const change = useChange('PUT /forward-zones/{id}', {
    done: 'zones.changed',
    onDone: onClose,
    quiet: true,
  });
  const { failure, isPending } = zone === null ? create : change;
  const save = (): void => {
    const body = { zone: name.trim(), servers: serversOf(servers), comment: comment.trim() };
    void (zone === null ? create.run({ body }) : change.run({ params: { id: zone.id }, body }));
  };
  return (
    <Dialog
      title={say(zone === null ? 'zones.add' : 'zones.edit')}
      isOpen
      onClose={onClose}
      actions={
        <>
          <Button onPress={onClose}>{say('action.cancel')}</Button>
          <Button
            kind="main"
            isDisabled={name.trim() === '' || serversOf(servers).length === 0}
            isPending={isPending}
            onPress={save}
          >
            {say('action.save')}
          </Button>
        </>
      }
    >
      <Stack>
        <TextField
          label={say('zones.zone')}
          help={say('zones.zone.help')}
          value={name}
          onChange={setName}
          error={fieldProblem(failure, 'zone')}
          autoFocus
          isCode
        />
        <TextField
          label={say('zones.servers')}
          help={say('zones.servers.help')}
          value={servers}
          onChange={setServers}
          error={serverProblem(failure)}
          rows={3}
          isCode
        />
        <TextField
          label={say('field.comment')}
          value={comment}
          onChange={setComment}
          error={fieldProblem(failure, 'comment')}
        />
        <FormFault failure={failure} fields={['zone', 'comment', ...serverPaths(failure)]} />
      </Stack>
    </Dialog>
  );
}

/** Each server has a path of its own: `servers.0`. */
function serverPaths(failure: Error | null): string[] {
  const errors = failure instanceof ApiFailure ? (failure.problem?.errors ?? []) : [];
  return errors.map(({ path }) => path).filter((path) => path.startsWith('servers'));
}

function serverProblem(failure: Error | null): string | null {
  const [path] = serverPaths(failure);
  return path === undefined ? null : fieldProblem(failure, path);
}
