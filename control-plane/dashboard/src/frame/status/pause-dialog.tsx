/** Dialog for the duration of a pause of blocking. */
import { useState } from 'react';
import type { ReactNode } from 'react';
import { useChange } from '../../api/use-change.ts';
import { useText } from '../../i18n/text.ts';
import { SelectField, TextField } from '../../ui/controls/fields.tsx';
import { FormFault } from '../../ui/display/states.tsx';
import { FormDialog } from '../../ui/overlays/form-dialog.tsx';
import { PAUSE_UNITS, pauseSecs } from './pause-choices.ts';
import type { PauseUnit } from './pause-choices.ts';

export default function PauseDialog({ onClose }: { readonly onClose: () => void }): ReactNode {
  const { say } = useText();
  const [amount, setAmount] = useState('15');
  const [unit, setUnit] = useState<PauseUnit>('minutes');
  const [isRefused, setRefused] = useState(false);
  const pause = useChange('POST /blocking', { done: 'blocking.paused', onDone: onClose, quiet: true });
  const save = (): void => {
    const secs = pauseSecs(amount, unit);
    setRefused(secs === null);
    if (secs !== null) void pause.run({ body: { enabled: false, timer_secs: secs } });
  };
  return (
    <FormDialog
      title={say('blocking.pause')}
      saveText={say('blocking.pauseNow')}
      isPending={pause.isPending}
      onSave={save}
      onClose={onClose}
    >
      <TextField
        label={say('field.duration')}
        value={amount}
        onChange={setAmount}
        inputMode="decimal"
        error={isRefused ? say('blocking.pauseWrong') : null}
        autoFocus
      />
      <SelectField
        label={say('blocking.pauseUnit')}
        value={unit}
        onChange={setUnit}
        choices={PAUSE_UNITS.map((id) => ({ id, text: say(`blocking.unit.${id}`) }))}
      />
      <FormFault failure={pause.failure} />
    </FormDialog>
  );
}
