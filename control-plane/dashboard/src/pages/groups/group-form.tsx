/** Form that adds a group, or edits the name and state of an existing one. */
import { useState } from 'react';
import type { ReactNode } from 'react';
import { useLocation } from 'wouter';
import { fieldProblem } from '../../api/problem-text.ts';
import { useChange } from '../../api/use-change.ts';
import { useGuard } from '../../api/use-guard.ts';
import { ChangedElsewhere, isSame, pairsOf } from '../../ui/overlays/changed-elsewhere.tsx';
import { useText } from '../../i18n/text.ts';
import { FormFault } from '../../ui/display/states.tsx';
import { SwitchField, TextField } from '../../ui/controls/fields.tsx';
import { FormDialog } from '../../ui/overlays/form-dialog.tsx';
import type { Group } from './group-list.tsx';
import styles from './groups.module.css';

interface GroupFormProps {
  /** The group to edit; null to add a new one. */
  readonly group: Group | null;
  readonly onClose: () => void;
}

type Edited = Pick<Group, 'name' | 'comment' | 'enabled' | 'no_ipv6'>;

function wordsOf({ name, comment, enabled, no_ipv6: noIpv6 }: Edited): (string | boolean)[] {
  return [name.trim(), comment.trim(), enabled, noIpv6];
}

/** A new group is opened after it is saved. */
export function GroupForm({ group, onClose }: GroupFormProps): ReactNode {
  const { say } = useText();
  const [, setLocation] = useLocation();
  const [name, setName] = useState(group?.name ?? '');
  const [comment, setComment] = useState(group?.comment ?? '');
  const [enabled, setEnabled] = useState(group?.enabled ?? true);
  const [noIpv6, setNoIpv6] = useState(group?.no_ipv6 ?? false);
  const create = useChange('POST /groups', {
    done: 'groups.created',
    quiet: true,
    onDone: ({ id }) => setLocation(`/groups?open=${id}`),
  });
  const update = useChange('PUT /groups/{id}', { done: 'groups.changed', quiet: true });
  const failure = create.failure ?? update.failure;
  const guard = useGuard({
    read: 'GET /groups/{id}',
    id: group?.id ?? null,
    isAsBegun: (now) => isSame(wordsOf(now), wordsOf(group!)),
    failure,
  });

  async function save(): Promise<void> {
    const body = { name: name.trim(), comment: comment.trim(), enabled, no_ipv6: noIpv6 };
    const isDone =
      group === null
        ? await create.run({ body })
        : await update.run({ params: { id: group.id }, body, ...guard.headers() });
    if (isDone) onClose();
  }

  const inWords = (of: Edited): string[] =>
    wordsOf(of).map((value) => (typeof value === 'string' ? value : say(value ? 'field.yes' : 'field.no')));
  return (
    <FormDialog
      title={group === null ? say('groups.add') : say('action.editOf', { name: group.name })}
      saveText={say(group === null ? 'groups.add' : 'action.save')}
      isPending={create.isPending || update.isPending}
      onSave={() => void save()}
      onClose={onClose}
    >
      <FormFault failure={guard.failure} fields={['name', 'comment']} />
      {guard.newer !== null && (
        <ChangedElsewhere
          fields={pairsOf(
            [say('field.name'), say('field.comment'), say('groups.isOn'), say('groups.noIpv6')],
            inWords({ name, comment, enabled, no_ipv6: noIpv6 }),
            inWords(guard.newer),
          )}
          isPending={update.isPending}
          onUse={() => {
            setName(guard.newer!.name);
            setComment(guard.newer!.comment);
            setEnabled(guard.newer!.enabled);
            setNoIpv6(guard.newer!.no_ipv6);
            guard.accept();
          }}
          onKeep={() => {
            guard.accept();
            void save();
          }}
        />
      )}
      <TextField
        label={say('field.name')}
        help={say('groups.name.help')}
        error={fieldProblem(failure, 'name')}
        value={name}
        onChange={setName}
        autoFocus
      />
      <TextField
        label={say('field.comment')}
        error={fieldProblem(failure, 'comment')}
        value={comment}
        onChange={setComment}
      />
      <div>
        <SwitchField isSelected={enabled} onChange={setEnabled}>
          {say('groups.isOn')}
        </SwitchField>
        <p className={styles['quiet']}>{say('groups.isOn.help')}</p>
      </div>
      <div>
        <SwitchField isSelected={noIpv6} onChange={setNoIpv6}>
          {say('groups.noIpv6')}
        </SwitchField>
        <p className={styles['quiet']}>{say('groups.noIpv6.help')}</p>
      </div>
    </FormDialog>
  );
}
