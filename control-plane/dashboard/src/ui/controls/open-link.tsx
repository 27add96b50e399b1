/** The name of a row that opens its details: a real link, so that it can be copied and opened in a new tab. */
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import styles from './open-link.module.css';

interface OpenLinkProps {
  readonly to: string;
  readonly children: ReactNode;
  /** A second, quiet line. */
  readonly detail?: ReactNode;
}

/** The link. */
export function OpenLink({ to, children, detail }: OpenLinkProps): ReactNode {
  return (
    <Link to={to} className={styles['link']}>
      <span className={styles['name']}>{children}</span>
      {detail !== undefined && detail !== null && <span className={styles['detail']}>{detail}</span>}
    </Link>
  );
}
