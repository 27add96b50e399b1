/** Layout of login and setup: a centred card below the logo. */
import { useEffect } from 'react';
import type { ReactNode } from 'react';
import { Mark } from '../../ui/display/mark.tsx';
import styles from './login-layout.module.css';

interface LoginLayoutProps {
  readonly title: string;
  readonly lead?: string;
  readonly children: ReactNode;
}

export function LoginLayout({ title, lead, children }: LoginLayoutProps): ReactNode {
  useEffect(() => {
    document.title = `${title} · Weir`;
  }, [title]);
  return (
    <main className={styles['door']}>
      <div className={styles['brand']}>
        <Mark size={44} />
        <span>Weir</span>
      </div>
      <section className={styles['card']}>
        <h1>{title}</h1>
        {lead !== undefined && <p className={styles['lead']}>{lead}</p>}
        {children}
      </section>
    </main>
  );
}
