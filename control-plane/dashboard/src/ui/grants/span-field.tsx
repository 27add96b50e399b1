/** Choice of how long something is allowed. */
import type { ReactNode } from 'react';
import { useText } from '../../i18n/text.ts';
import { SelectField } from '../../ui/controls/fields.tsx';
import { grantEnd, SPANS } from './grant-spans.ts';
import type { Span } from './grant-spans.ts';

interface SpanFieldProps {
  readonly value: Span;
  readonly onChange: (span: Span) => void;
}

export function SpanField({ value, onChange }: SpanFieldProps): ReactNode {
  const { say, format } = useText();
  return (
    <SelectField
      label={say('field.duration')}
      value={value}
      onChange={onChange}
      choices={SPANS.map((id) => ({
        id,
        text:
          id === 'tomorrow'
            ? say('blocking.pauseTomorrow', { time: format.shortTime(grantEnd(id, new Date()).until) })
            : format.span(Number(id)),
      }))}
    />
  );
}
