/** Something that few want to see: behind a line that opens it. */
import type { ReactNode } from 'react';
import styles from './disclosure.module.css';

interface DisclosureProps {
  readonly title: string;
  readonly children: ReactNode;
  /** Open at first. */
  readonly isOpen?: boolean;
}

/** A line that shows more when it is pressed. */
export function Disclosure({ title, children, isOpen = false }: DisclosureProps): ReactNode {
  return (
    <details className={styles['disclosure']} open={isOpen}>
      <summary>{title}</summary>
      <div className={styles['content']}>{children}</div>
    </details>
  );
}
