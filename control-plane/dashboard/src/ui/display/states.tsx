/** Placeholders for content that is loading, empty or failed. */
import { ChevronDown, CircleAlert, CircleCheck, Info, TriangleAlert } from 'lucide-react';
import type { LucideIcon } from 'lucide-react';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { ApiFailure } from '../../../../../shared/api/client/typed-client.ts';
import { useConnection } from '../../api/live/live-status.ts';
import { problemText } from '../../api/problem-text.ts';
import { useText } from '../../i18n/text.ts';
import { Button } from '../controls/button.tsx';
import styles from './states.module.css';

interface EmptyProps {
  readonly icon: LucideIcon;
  readonly title: string;
  /** Advice or actions. */
  readonly children?: ReactNode;
}

/** Placeholder for empty content, with advice. */
export function Empty({ icon: Icon, title, children }: EmptyProps): ReactNode {
  return (
    <div className={styles['empty']}>
      <Icon size={28} aria-hidden />
      <p className={styles['emptyTitle']}>{title}</p>
      {children}
    </div>
  );
}

/** Grey lines that replace loading content, so that the layout does not shift. */
export function Skeleton({ lines = 3 }: { readonly lines?: number }): ReactNode {
  const { say } = useText();
  return (
    <div className={styles['skeleton']} role="status" aria-busy>
      <span className="unseen">{say('state.loading')}</span>
      {Array.from({ length: lines }, (_, line) => (
        <span key={line} className={styles['bone']} />
      ))}
    </div>
  );
}

/** Severity of a callout. */
export type CalloutTone = 'info' | 'good' | 'warning' | 'fault';

const ICONS: Readonly<Record<CalloutTone, LucideIcon>> = {
  info: Info,
  good: CircleCheck,
  warning: TriangleAlert,
  fault: CircleAlert,
};

interface CalloutProps {
  readonly tone: CalloutTone;
  readonly children: ReactNode;
  /**
   * More text, which a phone shows on request. A phone shows only the first sentence, so that the message is as small
   * as possible.
   */
  readonly more?: string;
  readonly actions?: ReactNode;
  /** Whether screen readers read the message when it appears. */
  readonly isAlert?: boolean;
}

/** A highlighted message. */
export function Callout({ tone, children, more, actions, isAlert = false }: CalloutProps): ReactNode {
  const { say } = useText();
  const [isOpen, setOpen] = useState(false);
  const Icon = ICONS[tone];
  const size = more === undefined ? '' : `${styles['brief']} ${isOpen ? styles['open'] : ''}`;
  return (
    <div className={`${styles['callout']} ${styles[tone]} ${size}`} {...(isAlert && { role: 'alert' })}>
      <Icon size={20} aria-hidden />
      <div className={styles['calloutText']}>
        {children}
        {more !== undefined && (
          <>
            <button
              type="button"
              className={styles['moreButton']}
              aria-label={say('action.details')}
              aria-expanded={isOpen}
              onClick={() => setOpen(!isOpen)}
            >
              <ChevronDown size={18} aria-hidden />
            </button>
            <span className={styles['more']}> {more}</span>
          </>
        )}
      </div>
      {actions}
    </div>
  );
}

/** The parts of a query result that are used here. */
export interface Answer<Data> {
  readonly data: Data | undefined;
  readonly error: Error | null;
  readonly refetch: () => unknown;
}

interface AnsweredProps<Data> {
  readonly of: Answer<Data>;
  /** Number of lines of the skeleton. */
  readonly lines?: number;
  readonly children: (data: Data) => ReactNode;
}

/**
 * Renders content from a response after it has arrived. If a refresh fails, the old content remains visible, with an
 * error.
 */
export function Answered<Data>({ of, lines = 3, children }: AnsweredProps<Data>): ReactNode {
  const { say } = useText();
  const { data, error, refetch } = of;
  const isLost = useConnection().kind === 'lost';
  // If the connection is lost, the frame already shows this for the whole page.
  const isMarked = isLost && data !== undefined && !(error instanceof ApiFailure);
  const failed = error !== null && !isMarked && (
    <Callout
      tone="fault"
      actions={<Button onPress={() => void refetch()}>{say('action.retry')}</Button>}
      isAlert
    >
      {problemText(error)}
      {data !== undefined && ` ${say('state.old')}`}
    </Callout>
  );
  if (data === undefined) return failed === false ? <Skeleton lines={lines} /> : failed;
  return (
    <>
      {failed}
      {children(data)}
    </>
  );
}

interface FormFaultProps {
  /** Error of the request; null if the request did not fail. */
  readonly failure: unknown;
  /** Paths of the fields that show their own error. */
  readonly fields?: readonly string[];
}

/** Error message of a form; renders nothing if there is no error, or if the fields show it. */
export function FormFault({ failure, fields = [] }: FormFaultProps): ReactNode {
  if (failure === null) return null;
  const errors = failure instanceof ApiFailure ? (failure.problem?.errors ?? []) : [];
  if (errors.length > 0 && errors.every(({ path }) => fields.includes(path))) return null;
  return (
    <Callout tone="fault" isAlert>
      {problemText(failure)}
    </Callout>
  );
}
