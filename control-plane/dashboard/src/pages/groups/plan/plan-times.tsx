/** Times of a plan: chips for predefined times; below them, a line with days and hours for each selected time. */
import { Plus, X } from 'lucide-react';
import type { ReactNode } from 'react';
import { useText } from '../../../i18n/text.ts';
import { Button, IconButton } from '../../../ui/controls/button.tsx';
import { Chips } from '../../../ui/choices/chips.tsx';
import { CheckboxField, SelectField, TextField } from '../../../ui/controls/fields.tsx';
import { READY_IDS, readyIdOf } from '../../../ui/choices/ready-times.ts';
import type { ReadyTime } from '../../../ui/choices/ready-times.ts';
import { DAY_PRESETS, daysText } from '../../../ui/choices/day-presets.ts';
import { withReady } from './plan-draft.ts';
import { FormPart } from '../../../ui/choices/form-part.tsx';
import styles from './plan.module.css';

interface PlanTimesProps {
  readonly label: string;
  readonly help: string;
  readonly times: readonly ReadyTime[];
  readonly onChange: (times: readonly ReadyTime[]) => void;
}

const DAY_CHOICES: readonly number[] = [
  ...DAY_PRESETS.map(({ bits }) => bits),
  ...[0, 1, 2, 3, 4, 5, 6].map((day) => 1 << day),
];
const OTHER: ReadyTime = { days: 0b1111111, start_time: '18:00', end_time: '19:00', skips_days_off: true };

export function PlanTimes({ label, help, times, onChange }: PlanTimesProps): ReactNode {
  const { say } = useText();
  const isChosen = (id: string): boolean => times.some((time) => readyIdOf(time) === id);
  const set = (index: number, changed: Partial<ReadyTime>): void =>
    onChange(times.map((time, at) => (at === index ? { ...time, ...changed } : time)));
  return (
    <FormPart title={label} help={help}>
      <Chips
        label={label}
        chips={READY_IDS.map((id) => ({ id, text: say(`plan.ready.${id}`) }))}
        isChosen={isChosen}
        onToggle={(id, chosen) => {
          const ready = READY_IDS.find((one) => one === id);
          if (ready !== undefined) onChange(withReady(times, ready, chosen));
        }}
      />
      {times.map((time, index) => (
        <TimeRow
          key={index}
          time={time}
          onChange={(changed) => set(index, changed)}
          onRemove={() => onChange(times.filter((_time, at) => at !== index))}
        />
      ))}
      <div>
        <Button kind="quiet" icon={Plus} onPress={() => onChange([...times, OTHER])}>
          {say('plan.times.other')}
        </Button>
      </div>
    </FormPart>
  );
}

interface TimeRowProps {
  readonly time: ReadyTime;
  readonly onChange: (changed: Partial<ReadyTime>) => void;
  readonly onRemove: () => void;
}

function TimeRow({ time, onChange, onRemove }: TimeRowProps): ReactNode {
  const { say, format } = useText();
  const { days, start_time: start, end_time: end, skips_days_off: skips } = time;
  const ready = readyIdOf(time);
  const text = daysText(days, say, format.weekday);
  const name = ready === null ? text : say(`plan.ready.${ready}`);
  const choices = [...new Set([...DAY_CHOICES, days])];
  return (
    <div className={styles['time']} role="group" aria-label={name}>
      <div className={styles['days']}>
        {ready === null ? (
          <SelectField
            label={say('field.days')}
            isLabelHidden
            value={`${days}`}
            onChange={(bits) => onChange({ days: Number(bits) })}
            choices={choices.map((bits) => ({ id: `${bits}`, text: daysText(bits, say, format.weekday) }))}
          />
        ) : (
          <span>
            <strong>{name}</strong> <span className="quiet">{text}</span>
          </span>
        )}
        <IconButton icon={X} label={say('action.removeOf', { name })} onPress={onRemove} />
      </div>
      <TextField
        label={say('field.from')}
        type="time"
        value={start}
        onChange={(value) => onChange({ start_time: value.slice(0, 5) })}
      />
      <TextField
        label={say('field.to')}
        type="time"
        value={end}
        onChange={(value) => onChange({ end_time: value.slice(0, 5) })}
      />
      {ready === null && (
        <CheckboxField isSelected={skips} onChange={(on) => onChange({ skips_days_off: on })}>
          {say('plan.times.skips')}
        </CheckboxField>
      )}
    </div>
  );
}
