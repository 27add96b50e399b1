/** A form that the page sends itself, by its button or by Enter. */
import type { ReactNode } from 'react';
import { Form } from 'react-aria-components/Form';

interface SubmitFormProps {
  readonly className?: string;
  readonly onSubmit: () => void;
  readonly children: ReactNode;
}

/** The form. */
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
