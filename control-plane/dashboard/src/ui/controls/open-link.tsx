/** Name of a row that opens its details. It is a real link, so users can copy it or open it in a new tab. */
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import styles from './open-link.module.css';

interface OpenLinkProps {
  readonly to: string;
  readonly children: ReactNode;
  /** A second line of secondary text. */
  readonly detail?: ReactNode;
}

export function OpenLink({ to, children, detail }: OpenLinkProps): ReactNode {
  return (
    <Link to={to} className={styles['link']}>
      <span className={styles['name']}>{children}</span>
      {detail !== undefined && detail !== null && <span className={styles['detail']}>{detail}</span>}
    </Link>
  );
}
