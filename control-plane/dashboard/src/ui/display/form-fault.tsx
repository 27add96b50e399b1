/** Why a form was refused, where no field of it says so itself. */
import type { ReactNode } from 'react';
import { ApiFailure } from '../../../../../shared/api/client/typed-client.ts';
import { problemText } from '../../api/problem-text.ts';
import { Callout } from './states.tsx';

interface FormFaultProps {
  readonly failure: Error | null;
  /** Paths of the fields that show their own problem. */
  readonly fields: readonly string[];
}

/** The fault; nothing where there is none, or where fields show it. */
export function FormFault({ failure, fields }: FormFaultProps): ReactNode {
  if (failure === null) return null;
  const errors = failure instanceof ApiFailure ? (failure.problem?.errors ?? []) : [];
  if (errors.length > 0 && errors.every(({ path }) => fields.includes(path))) return null;
  return (
    <Callout tone="fault" isAlert>
      {problemText(failure)}
    </Callout>
  );
}
