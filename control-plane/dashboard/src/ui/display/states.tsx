/** Placeholders for content that is loading, empty or failed. */
import { CircleAlert, CircleCheck, Info, TriangleAlert } from 'lucide-react';
import type { LucideIcon } from 'lucide-react';
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

/** Says that there is nothing, and what to do. */
export function Empty({ icon: Icon, title, children }: EmptyProps): ReactNode {
  return (
    <div className={styles['empty']}>
      <Icon size={28} aria-hidden />
      <p className={styles['emptyTitle']}>{title}</p>
      {children}
    </div>
  );
}

/** Grey lines in place of content that is loading, so that the layout does not jump. */
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
  readonly actions?: ReactNode;
  /** Read aloud when it appears. */
  readonly isAlert?: boolean;
}

/** A sentence that must not be missed. */
export function Callout({ tone, children, actions, isAlert = false }: CalloutProps): ReactNode {
  const Icon = ICONS[tone];
  return (
    <div className={`${styles['callout']} ${styles[tone]}`} {...(isAlert && { role: 'alert' })}>
      <Icon size={20} aria-hidden />
      <div className={styles['calloutText']}>{children}</div>
      {actions}
    </div>
  );
}

/** The parts of an answer that are shown. */
export interface Answer<Data> {
  readonly data: Data | undefined;
  readonly error: Error | null;
  readonly refetch: () => unknown;
}

interface AnsweredProps<Data> {
  readonly of: Answer<Data>;
  /** Lines of the skeleton. */
  readonly lines?: number;
  readonly children: (data: Data) => ReactNode;
}

/** Content made from an answer once it has arrived. If a refresh fails, the old content stays, with an error. */
export function Answered<Data>({ of, lines = 3, children }: AnsweredProps<Data>): ReactNode {
  const { say } = useText();
  const { data, error, refetch } = of;
  const isLost = useConnection().kind === 'lost';
  // The frame already shows that for the whole page.
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
  /** Null = it was not refused. */
  readonly failure: unknown;
  /** Paths of the fields that show their own problem. */
  readonly fields?: readonly string[];
}

/** Error message of a form; empty without an error, or if the fields show it themselves. */
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
