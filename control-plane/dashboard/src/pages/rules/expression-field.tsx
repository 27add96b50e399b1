/** A name to try an expression with, before it is saved. */
import { useEffect, useState } from 'react';
import type { ReactNode } from 'react';
import { useText } from '../../i18n/text.ts';
import { TextField } from '../../ui/controls/fields.tsx';
import { Callout } from '../../ui/display/states.tsx';
import type { Trial } from './expression-trial.ts';

/** The field, and what came of it. The code that tries is the one that DNS uses. */
export function ExpressionTrial({ pattern }: { readonly pattern: string }): ReactNode {
  const { say } = useText();
  const [name, setName] = useState('');
  const trial = useTrial(pattern, name);
  return (
    <>
      <TextField
        label={say('rules.try')}
        help={say('rules.try.help')}
        value={name}
        onChange={setName}
        isCode
      />
      <div role="status">
        {trial !== null && 'reason' in trial && (
          <Callout tone="fault">{say('rules.try.bad', { reason: trial.reason })}</Callout>
        )}
        {trial !== null && 'matches' in trial && (
          <Callout tone={trial.matches ? 'good' : 'info'}>
            {say(trial.matches ? 'rules.try.yes' : 'rules.try.no')}
          </Callout>
        )}
      </div>
    </>
  );
}

/** Null while there is nothing to try. */
function useTrial(pattern: string, name: string): Trial | null {
  const [trial, setTrial] = useState<Trial | null>(null);
  useEffect(() => {
    let isOld = false;
    setTrial(null);
    if (pattern.trim() === '' || name.trim() === '') return undefined;
    void import('./expression-trial.ts').then(({ tryExpression }) => {
      if (!isOld) setTrial(tryExpression(pattern.trim(), name));
    });
    return () => {
      isOld = true;
    };
  }, [pattern, name]);
  return trial;
}
