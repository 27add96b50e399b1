/** Frame for users with the role family: one page, and notices. */
import type { ReactNode } from 'react';
import FamilyPage from '../pages/family/family-page.tsx';
import { Toasts } from '../ui/overlays/toasts.tsx';
import styles from './shell.module.css';

export default function FamilyFrame({ onLogout }: { readonly onLogout: () => void }): ReactNode {
  return (
    <div className={styles['alone']}>
      <main className={styles['main']} tabIndex={-1}>
        <FamilyPage onLogout={onLogout} />
      </main>
      <Toasts />
    </div>
  );
}
