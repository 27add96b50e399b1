/**
 * Single values: names, times, numbers and states. Values from the network are always rendered as text, never as HTML.
 */
import type { LucideIcon } from 'lucide-react';
import type { ReactNode } from 'react';
import { shownName } from '../../i18n/shown-name.ts';
import { useText } from '../../i18n/text.ts';
import styles from './values.module.css';

/** A domain name that can wrap at its dots and has its own text direction. Special bytes stay escaped. */
export function DomainName({ name }: { readonly name: string }): ReactNode {
  const { labels, unicode } = shownName(name);
  return (
    <bdi className={styles['name']}>
      {labels.map((label, place) => (
        <span key={place}>
          {place > 0 && '.'}
          {place > 0 && <wbr />}
          {label}
        </span>
      ))}
      {unicode !== null && <span className={styles['unicode']}> ({unicode})</span>}
    </bdi>
  );
}

/** A time relative to now, with the exact time as a tooltip. */
export function Moment({ at }: { readonly at: string }): ReactNode {
  const { format } = useText();
  return (
    <time dateTime={at} title={format.moment(at)} className={styles['moment']}>
      {format.ago(at)}
    </time>
  );
}

/** Colour of a badge. */
export type BadgeTone = 'plain' | 'allowed' | 'blocked' | 'good' | 'warning' | 'fault';

interface BadgeProps {
  readonly tone: BadgeTone;
  readonly icon?: LucideIcon;
  readonly children: ReactNode;
}

/** A state as a word, because colour alone is not sufficient. */
export function Badge({ tone, icon: Icon, children }: BadgeProps): ReactNode {
  return (
    <span className={`${styles['badge']} ${styles[tone]}`}>
      {Icon !== undefined && <Icon size={14} aria-hidden />}
      {children}
    </span>
  );
}

interface FigureProps {
  readonly label: string;
  readonly value: string;
  /** The exact value if `value` is rounded, or another detail. */
  readonly detail?: ReactNode;
}

/** A number with its label. */
export function Figure({ label, value, detail }: FigureProps): ReactNode {
  return (
    <div className={styles['figure']}>
      <dt>{label}</dt>
      <dd>
        <span className={styles['number']}>{value}</span>
        {detail !== undefined && <span className={styles['detail']}>{detail}</span>}
      </dd>
    </div>
  );
}

/** Figures side by side. */
export function Figures({ children }: { readonly children: ReactNode }): ReactNode {
  return <dl className={styles['figures']}>{children}</dl>;
}

interface FactsProps {
  readonly facts: readonly (readonly [term: string, value: ReactNode])[];
}

/** A list of terms and values. */
export function Facts({ facts }: FactsProps): ReactNode {
  return (
    <dl className={styles['facts']}>
      {facts.map(([term, value]) => (
        <div key={term}>
          <dt>{term}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
