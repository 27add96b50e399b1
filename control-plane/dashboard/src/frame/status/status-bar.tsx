/**
 * Status bar of every page: the state of blocking, a button that pauses or resumes blocking, requests and current
 * problems.
 */
import {
  CircleCheck,
  Hand,
  Pause,
  Play,
  ShieldAlert,
  ShieldCheck,
  ShieldOff,
  TriangleAlert,
} from 'lucide-react';
import { lazy, memo, Suspense, useEffect, useState } from 'react';
import type { ReactNode } from 'react';
import { useConnection, useNodeStatus } from '../../api/live/live-status.ts';
import { useUnblockRequests } from '../../api/live/unblock-requests.ts';
import { useMe } from '../../api/session.tsx';
import { useChange } from '../../api/use-change.ts';
import { withAllMessages } from '../../i18n/language.ts';
import { useText } from '../../i18n/text.ts';
import { isNothingBlocked } from '../../ui/troubles/troubles.ts';
import { countProblems, useTroubles } from '../../ui/troubles/use-troubles.ts';
import { Button } from '../../ui/controls/button.tsx';
import styles from './status-bar.module.css';
import { PAUSES_SECS, secsLeft, secsUntil, tomorrow } from './pause-choices.ts';
import { Menu } from '../../ui/overlays/menu.tsx';

const RequestsDialog = lazy(() => withAllMessages(() => import('./requests-dialog.tsx')));
const TroubleDialog = lazy(() => withAllMessages(() => import('./trouble-dialog.tsx')));

/** Keeps its height while its contents are loading, so that the layout does not shift. */
export const StatusBar = memo(function StatusBar(): ReactNode {
  const { say } = useText();
  return (
    <header className={styles['bar']} aria-label={say('status.bar')}>
      <BlockingState />
      <Requests />
      <Troubles />
    </header>
  );
});

/** Text with a short form on phones, so that the bar always fits on one line. */
function Words({ long, short }: { readonly long: string; readonly short: string }): ReactNode {
  return (
    <>
      <span className={styles['long']}>{long}</span>
      <span className={styles['short']} data-text={short} aria-hidden />
    </>
  );
}

function BlockingState(): ReactNode {
  const { say, format } = useText();
  const { isAdmin } = useMe();
  const { blocking, blockedNames, isLost } = useNodeStatus();
  const left = useSecsLeft(blocking.data?.timer_secs ?? null, blocking.dataUpdatedAt);
  const resume = useChange('POST /blocking', { done: 'blocking.resumed' });
  if (blocking.data === undefined) return <p className={styles['text']} />;
  const { enabled, this_node_only: isHereOnly } = blocking.data;
  // Without a database, a node can only pause for a limited time.
  const timer = isHereOnly && left !== null ? { timer_secs: Math.max(1, left) } : {};
  const isNothing = isNothingBlocked(enabled, blockedNames);
  const Icon = !enabled ? ShieldOff : isNothing ? ShieldAlert : ShieldCheck;
  const state = enabled ? (isNothing ? 'onNothing' : 'on') : left === null ? 'off' : 'offFor';
  const span = format.span(left ?? 0);
  const tone = isLost ? 'unknown' : enabled && !isNothing ? 'on' : 'off';
  return (
    <>
      <Icon size={20} aria-hidden className={styles[tone]} />
      <p className={styles['text']} data-tone={tone}>
        <Words long={say(`blocking.${state}`, { span })} short={say(`blocking.short.${state}`, { span })} />
        {isHereOnly && <span className={styles['names']}> {say('blocking.hereOnly')}</span>}
        {enabled && !isNothing && blockedNames !== null && ' '}
        {enabled && !isNothing && blockedNames !== null && (
          <span className={styles['names']}>
            {say('blocking.names', { count: blockedNames, shown: format.briefCount(blockedNames) })}
          </span>
        )}
      </p>
      {isAdmin && enabled && <PauseMenu />}
      {isAdmin && !enabled && (
        <Button
          kind="main"
          icon={Play}
          isPending={resume.isPending}
          onPress={() => void resume.run({ body: { enabled: true, ...timer } })}
        >
          {say('blocking.resume')}
        </Button>
      )}
    </>
  );
}

/** Requests of devices to unblock a name; renders nothing if there are none. */
function Requests(): ReactNode {
  const { say, format } = useText();
  const count = useUnblockRequests(useConnection());
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      {count > 0 && (
        <Button icon={Hand} onPress={() => setOpen(true)}>
          <Words long={say('requests.count', { count })} short={format.count(count)} />
        </Button>
      )}
      {isOpen && (
        <Suspense fallback={null}>
          <RequestsDialog onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </>
  );
}

function Troubles(): ReactNode {
  const { say, format } = useText();
  const troubles = useTroubles();
  const [isOpen, setOpen] = useState(false);
  if (troubles === null) return null;
  const count = countProblems(troubles);
  if (troubles.length === 0)
    return (
      <p className={styles['well']}>
        <CircleCheck size={18} aria-hidden />
        {say('trouble.none')}
      </p>
    );
  return (
    <>
      <Button icon={TriangleAlert} onPress={() => setOpen(true)}>
        <Words
          long={count === 0 ? say('trouble.hints') : say('trouble.count', { count })}
          short={format.count(troubles.length)}
        />
      </Button>
      {isOpen && (
        <Suspense fallback={null}>
          <TroubleDialog troubles={troubles} onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </>
  );
}

const MINUTE_SECS = 60;
const SLOW_MS = 10_000;
const QUICK_MS = 1_000;

/** Remaining seconds of a timer that had `timerSecs` left at `atMs`; null without a timer. */
function useSecsLeft(timerSecs: number | null, atMs: number): number | null {
  const [nowMs, setNowMs] = useState(() => Date.now());
  const left = timerSecs === null ? null : secsLeft(timerSecs, atMs, Math.max(nowMs, atMs));
  const isRunning = left !== null && left > 0;
  const everyMs = isRunning && left <= 2 * MINUTE_SECS ? QUICK_MS : SLOW_MS;
  useEffect(() => {
    if (!isRunning) return undefined;
    setNowMs(Date.now());
    const timer = setInterval(() => setNowMs(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [isRunning, everyMs, atMs]);
  return left;
}

const PauseDialog = lazy(() => withAllMessages(() => import('./pause-dialog.tsx')));

/** Pauses blocking for a limited time. The server ends the pause, so this page need not stay open. */
function PauseMenu(): ReactNode {
  const { say, format } = useText();
  const [isAsking, setAsking] = useState(false);
  const pause = useChange('POST /blocking', { done: 'blocking.paused' });
  const pauseFor = (secs: number | null): void =>
    void pause.run({ body: { enabled: false, timer_secs: secs } });
  const morning = tomorrow(new Date());
  return (
    <>
      <Menu
        label={say('blocking.pause')}
        button={
          <Button icon={Pause} isPending={pause.isPending}>
            <Words long={say('blocking.pause')} short={say('blocking.pauseNow')} />
          </Button>
        }
        actions={[
          ...PAUSES_SECS.map((secs) => ({
            id: String(secs),
            text: say('blocking.pauseFor', { span: format.span(secs) }),
            run: () => pauseFor(secs),
          })),
          {
            id: 'tomorrow',
            text: say('blocking.pauseTomorrow', { time: format.shortTime(morning) }),
            run: () => pauseFor(secsUntil(morning, new Date())),
          },
          { id: 'custom', text: say('blocking.pauseCustom'), run: () => setAsking(true) },
          { id: 'open', text: say('blocking.pauseOpen'), run: () => pauseFor(null) },
        ]}
      />
      {isAsking && (
        <Suspense fallback={null}>
          <PauseDialog onClose={() => setAsking(false)} />
        </Suspense>
      )}
    </>
  );
}
