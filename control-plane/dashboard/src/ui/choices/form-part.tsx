/** A part of a long form. */
import { useId } from 'react';
import type { ReactNode } from 'react';
import styles from './choices.module.css';

interface FormPartProps {
  readonly title: string;
  readonly help?: string;
  readonly children: ReactNode;
}

/** A heading with the controls of the part. */
export function FormPart({ title, help, children }: FormPartProps): ReactNode {
  const id = useId();
  return (
    <section className={styles['part']} aria-labelledby={id}>
      <h3 id={id}>{title}</h3>
      {children}
      {help !== undefined && <p className="quiet">{help}</p>}
    </section>
  );
}
