/** Form part for holidays, on which school nights and homework do not apply. */
import { Plus, X } from 'lucide-react';
import type { ReactNode } from 'react';
import { useText } from '../../i18n/text.ts';
import { Button, IconButton } from '../controls/button.tsx';
import { TextField } from '../controls/fields.tsx';
import type { DayRange } from './day-ranges.ts';
import { FormPart } from './form-part.tsx';
import styles from './choices.module.css';

interface HolidaysProps {
  readonly ranges: readonly DayRange[];
  readonly onChange: (ranges: readonly DayRange[]) => void;
}

export function Holidays({ ranges, onChange }: HolidaysProps): ReactNode {
  const { say } = useText();
  const set = (index: number, changed: DayRange): void =>
    onChange(ranges.map((range, at) => (at === index ? changed : range)));
  return (
    <FormPart title={say('holidays')} help={say('holidays.help')}>
      {ranges.map(({ from, to }, index) => (
        <div key={index} className={styles['line']} role="group" aria-label={say('holidays')}>
          <TextField
            label={say('holidays.first')}
            type="date"
            value={from}
            onChange={(day) => set(index, { from: day, to: to < day ? day : to })}
          />
          <TextField
            label={say('holidays.last')}
            type="date"
            value={to}
            onChange={(day) => set(index, { from, to: day })}
            error={to < from ? say('holidays.order') : null}
          />
          <IconButton
            icon={X}
            label={say('holidays.remove')}
            onPress={() => onChange(ranges.filter((_range, at) => at !== index))}
          />
        </div>
      ))}
      <div>
        <Button kind="quiet" icon={Plus} onPress={() => onChange([...ranges, { from: '', to: '' }])}>
          {say('holidays.add')}
        </Button>
      </div>
    </FormPart>
  );
}
