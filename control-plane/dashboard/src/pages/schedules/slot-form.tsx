/** Form of a slot: its days, start, end and action. */
import { useState } from 'react';
import type { ReactNode } from 'react';
import { ApiFailure } from '../../../../../shared/api/client/typed-client.ts';
import type { AnswerOf } from '../../../../../shared/api/client/typed-client.ts';
import { ask } from '../../api/ask.ts';
import { notify } from '../../api/notices.ts';
import { useChange } from '../../api/use-change.ts';
import { useText } from '../../i18n/text.ts';
import { FormFault } from '../../ui/display/states.tsx';
import { CheckboxField, TextField } from '../../ui/controls/fields.tsx';
import { Segments } from '../../ui/controls/segments.tsx';
import { daysBits, daysOf, isOverMidnight } from '../../ui/policy/week.ts';
import { Chips } from '../../ui/choices/chips.tsx';
import { DAY_PRESETS, daysText } from '../../ui/choices/day-presets.ts';
import { draftFault, draftOf, slotOf } from './slot-draft.ts';
import { ChangedElsewhere, pairsOf } from '../../ui/overlays/changed-elsewhere.tsx';
import { FormDialog } from '../../ui/overlays/form-dialog.tsx';
import { useFields } from '../../api/use-fields.ts';
import styles from './schedules.module.css';

interface SlotFormProps {
  readonly profileId: number;
  /** The slot to edit; null to add a new one. */
  readonly slot: AnswerOf<'GET /schedule-profiles/{id}'>['slots'][number] | null;
  /** Start of a new slot. */
  readonly from?: { readonly day: number; readonly minute: number } | undefined;
  readonly onClose: () => void;
}

/** Whether someone else has changed or deleted the slot. A changed slot has another id. */
async function isSlotGone(profileId: number, slotId: number): Promise<boolean> {
  try {
    await ask('GET /schedule-profiles/{id}/slots/{slot_id}', { params: { id: profileId, slot_id: slotId } });
    return false;
  } catch (error) {
    return error instanceof ApiFailure && error.status === 404;
  }
}

export function SlotForm({ profileId, slot, from, onClose }: SlotFormProps): ReactNode {
  const { say, format } = useText();
  const create = useChange('POST /schedule-profiles/{id}/slots', {
    quiet: true,
    ...(slot === null && { done: 'schedules.slot.created' }),
  });
  const remove = useChange('DELETE /schedule-profiles/{id}/slots/{slot_id}', { quiet: true });
  const failure = create.failure ?? remove.failure;
  const { fields: draft, set, bind, bindToggle } = useFields(() => draftOf(slot, from), failure);
  const { days } = draft;
  const fault = draftFault(draft);

  const [isGone, setGone] = useState(false);

  async function save(replaced: SlotFormProps['slot']): Promise<void> {
    if (replaced !== null && (await isSlotGone(profileId, replaced.id))) {
      setGone(true);
      return;
    }
    if (!(await create.run({ params: { id: profileId }, body: slotOf(draft) }))) return;
    // Changing a slot replaces it by a new slot. The new slot is created first, so that there is no time without a
    // slot.
    if (replaced !== null && !(await remove.run({ params: { id: profileId, slot_id: replaced.id } }))) return;
    if (slot !== null) notify({ tone: 'good', text: say('schedules.slot.changed') });
    onClose();
  }

  const { days: bits, start_time: start, end_time: end, action } = slotOf(draft);

  return (
    <FormDialog
      title={say(slot === null ? 'schedules.slot.add' : 'schedules.slot.edit')}
      isReady={fault === null}
      isPending={create.isPending || remove.isPending}
      onSave={() => void save(slot)}
      onClose={onClose}
    >
      <FormFault failure={failure} fields={['start_time', 'end_time']} />
      {isGone && (
        <ChangedElsewhere
          fields={pairsOf(
            [say('field.days'), say('schedules.slots'), say('field.action')],
            [
              daysText(bits, say, format.weekday),
              `${start}–${end}`,
              say(action === 'block_all' ? 'schedules.action.block' : 'schedules.action.allow'),
            ],
            ['', '', ''],
          )}
          isPending={create.isPending}
          onUse={onClose}
          onKeep={() => void save(null)}
        />
      )}
      <Segments
        label={say('field.action')}
        value={draft.action}
        onChange={(action) => set({ action })}
        choices={[
          { id: 'block_all', text: say('schedules.action.block') },
          { id: 'allow_all', text: say('schedules.action.allow') },
        ]}
      />
      <div className="rows-2">
        <Chips
          label={say('field.days')}
          chips={DAY_PRESETS.map(({ id }) => ({ id, text: say(`schedules.days.${id}`) }))}
          isChosen={(chosen) => DAY_PRESETS.some(({ id, bits }) => id === chosen && daysBits(days) === bits)}
          onToggle={(chosen) => {
            const preset = DAY_PRESETS.find(({ id }) => id === chosen);
            if (preset !== undefined) set({ days: daysOf(preset.bits) });
          }}
        />
        <div role="group" aria-label={say('field.days')} className={styles['days']}>
          {[0, 1, 2, 3, 4, 5, 6].map((day) => (
            <CheckboxField
              key={day}
              aria-label={format.weekday(day)}
              isSelected={days.includes(day)}
              onChange={(isOn) =>
                set({ days: isOn ? [...days, day].sort() : days.filter((one) => one !== day) })
              }
            >
              {format.weekday(day, 'short')}
            </CheckboxField>
          ))}
        </div>
      </div>
      <CheckboxField {...bindToggle('isWholeDay')}>{say('schedules.wholeDay')}</CheckboxField>
      {!draft.isWholeDay && (
        <div className={styles['times']}>
          <TextField label={say('field.from')} type="time" {...bind('start', 'start_time')} />
          <TextField
            label={say('field.to')}
            type="time"
            help={
              isOverMidnight({ start_time: draft.start, end_time: draft.end })
                ? say('schedules.end.nextDay')
                : undefined
            }
            {...bind('end', 'end_time')}
          />
        </div>
      )}
      <CheckboxField {...bindToggle('skipsDaysOff')}>{say('plan.times.skips')}</CheckboxField>
      {fault !== null && (
        <p className={styles['fault']} role="alert">
          {say(fault)}
        </p>
      )}
    </FormDialog>
  );
}
