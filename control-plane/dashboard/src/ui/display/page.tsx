/** Layout of a page: heading, actions, and its parts as cards. */
import { useEffect } from 'react';
import type { ReactNode } from 'react';
import styles from './page.module.css';

interface PageProps {
  readonly title: string;
  /** A line about the purpose of the page, or about the current state. */
  readonly lead?: ReactNode;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}

/** A page; its title is also the title of the browser tab. */
export function Page({ title, lead, actions, children }: PageProps): ReactNode {
  useEffect(() => {
    document.title = `${title} · Weir`;
  }, [title]);
  return (
    <div className={styles['page']}>
      <header className={styles['header']}>
        <div className={styles['titles']}>
          <h1 tabIndex={-1}>{title}</h1>
          {lead !== undefined && <p className={styles['lead']}>{lead}</p>}
        </div>
        {actions !== undefined && <div className={styles['actions']}>{actions}</div>}
      </header>
      {children}
    </div>
  );
}

interface CardProps {
  readonly title?: string;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
  /** Whether the card takes the full width of the page. */
  readonly isWide?: boolean;
}

/** One part of a page. */
export function Card({ title, actions, children, isWide = false }: CardProps): ReactNode {
  return (
    <section className={`${styles['card']} ${isWide ? styles['wide'] : ''}`}>
      {title !== undefined && (
        <header className={styles['cardHeader']}>
          <h2>{title}</h2>
          {actions}
        </header>
      )}
      {children}
    </section>
  );
}

interface CardsProps {
  readonly children: ReactNode;
  /** Whether cards keep their own height and fill columns; by default, all cards in a line are equally high. */
  readonly isPacked?: boolean;
}

/** Cards side by side, as many as fit. */
export function Cards({ children, isPacked = false }: CardsProps): ReactNode {
  return <div className={styles[isPacked ? 'packed' : 'cards']}>{children}</div>;
}

/** Fields and buttons in a line that wraps. */
export function Bar({ children }: { readonly children: ReactNode }): ReactNode {
  return <div className={styles['bar']}>{children}</div>;
}

/** Stacked elements, such as the fields of a form. */
export function Stack({ children }: { readonly children: ReactNode }): ReactNode {
  return <div className={styles['stack']}>{children}</div>;
}
