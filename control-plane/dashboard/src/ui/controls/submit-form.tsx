/** A form that calls `onSubmit` when the user presses its submit button or Enter. */
import type { ReactNode } from 'react';
import { Form } from 'react-aria-components/Form';

interface SubmitFormProps {
  readonly className?: string;
  readonly onSubmit: () => void;
  readonly children: ReactNode;
}

export function SubmitForm({ className = '', onSubmit, children }: SubmitFormProps): ReactNode {
  return (
    <Form
      className={className}
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit();
      }}
    >
      {children}
    </Form>
  );
}
