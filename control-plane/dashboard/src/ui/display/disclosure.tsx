/** Optional content that the user can expand. */
import type { ReactNode } from 'react';
import styles from './disclosure.module.css';

interface DisclosureProps {
  readonly title: string;
  readonly children: ReactNode;
  /** Whether the content is initially expanded. */
  readonly isOpen?: boolean;
}

export function Disclosure({ title, children, isOpen = false }: DisclosureProps): ReactNode {
  return (
    <details className={styles['disclosure']} open={isOpen}>
      <summary>{title}</summary>
      <div className={styles['content']}>{children}</div>
    </details>
  );
}
