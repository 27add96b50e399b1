/** Form that adds a schedule, or edits the name and time zone of an existing one. */
import { useMemo, useState } from 'react';
import type { ReactNode } from 'react';
import { useLocation } from 'wouter';
import type { AnswerOf } from '../../../../../shared/api/client/typed-client.ts';
import { useChange } from '../../api/use-change.ts';
import { useText } from '../../i18n/text.ts';
import { FormFault } from '../../ui/display/states.tsx';
import { CheckboxField, SelectField, TextField } from '../../ui/controls/fields.tsx';
import { FormDialog } from '../../ui/overlays/form-dialog.tsx';
import { useFields } from '../../api/use-fields.ts';
import { useGuard } from '../../api/use-guard.ts';
import { ChangedSince, isSame } from '../../ui/overlays/changed-elsewhere.tsx';
import { filledIn } from '../../ui/choices/day-ranges.ts';
import { Holidays } from '../../ui/choices/holidays.tsx';
import { draftOf, slotOf } from './slot-draft.ts';

interface ProfileFormProps {
  /** The schedule to edit; null to add a new one. */
  readonly profile: AnswerOf<'GET /schedule-profiles'>[number] | null;
  readonly onClose: () => void;
}

type Fields = ReturnType<typeof fieldsOf>;

/** Form values of an existing or a new schedule. */
function fieldsOf(profile: Omit<NonNullable<ProfileFormProps['profile']>, 'group_ids'> | null) {
  return {
    name: profile?.name ?? '',
    timezone: profile?.timezone ?? Intl.DateTimeFormat().resolvedOptions().timeZone,
    comment: profile?.comment ?? '',
    daysOff: profile?.days_off ?? [],
  };
}

/** A new schedule is opened after it is saved. */
export function ProfileForm({ profile, onClose }: ProfileFormProps): ReactNode {
  const { say } = useText();
  const [, setLocation] = useLocation();
  const [withNights, setWithNights] = useState(true);
  const create = useChange('POST /schedule-profiles', {
    done: 'schedules.created',
    quiet: true,
    onDone: ({ id }) => setLocation(`/schedules?open=${id}`),
  });
  const update = useChange('PUT /schedule-profiles/{id}', { done: 'schedules.changed', quiet: true });
  const failure = create.failure ?? update.failure;

  const { fields, set, bind } = useFields(() => fieldsOf(profile), failure);
  const guard = useGuard({
    read: 'GET /schedule-profiles/{id}',
    id: profile?.id ?? null,
    isAsBegun: (now) => isSame(fieldsOf(now), fieldsOf(profile)),
    failure,
  });
  const zones = useMemo(() => zonesWith(fields.timezone), [fields.timezone]);

  async function save(): Promise<void> {
    const { name, timezone, comment, daysOff } = fields;
    const body = { name: name.trim(), timezone, comment: comment.trim(), days_off: filledIn(daysOff) };
    const isDone =
      profile === null
        ? await create.run({ body: { ...body, slots: withNights ? [slotOf(draftOf(null))] : [] } })
        : await update.run({ params: { id: profile.id }, body, ...guard.headers() });
    if (isDone) onClose();
  }

  const words = ({ name, timezone, comment, daysOff }: Fields): string[] => [
    name.trim(),
    timezone,
    comment.trim(),
    filledIn(daysOff)
      .map(({ from, to }) => `${from}–${to}`)
      .join(', '),
  ];
  return (
    <FormDialog
      title={profile === null ? say('schedules.add') : say('action.editOf', { name: profile.name })}
      saveText={say(profile === null ? 'schedules.add' : 'action.save')}
      isPending={create.isPending || update.isPending}
      onSave={() => void save()}
      onClose={onClose}
    >
      <FormFault failure={guard.failure} fields={['name', 'timezone', 'comment']} />
      <ChangedSince
        guard={guard}
        labels={[say('field.name'), say('field.timezone'), say('field.comment'), say('holidays')]}
        mine={words(fields)}
        wordsOf={(now) => words(fieldsOf(now))}
        isPending={update.isPending}
        onUse={(now) => set(fieldsOf(now))}
        onKeep={() => void save()}
      />
      <TextField label={say('field.name')} help={say('schedules.name.help')} {...bind('name')} autoFocus />
      <SelectField
        label={say('field.timezone')}
        help={say('schedules.zone.help')}
        {...bind('timezone')}
        choices={zones.map((id) => ({ id, text: id }))}
      />
      <TextField label={say('field.comment')} {...bind('comment')} />
      {profile !== null && (
        <Holidays ranges={fields.daysOff} onChange={(off) => set({ daysOff: [...off] })} />
      )}
      {profile === null && (
        <CheckboxField isSelected={withNights} onChange={setWithNights}>
          {say('schedules.withNights')}
        </CheckboxField>
      )}
    </FormDialog>
  );
}

function zonesWith(zone: string): readonly string[] {
  return [...new Set(['UTC', zone, ...Intl.supportedValuesOf('timeZone')])].sort();
}
