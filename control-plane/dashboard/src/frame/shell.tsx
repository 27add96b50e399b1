/** The frame of all pages: navigation at the side, or in a bar at the bottom on phones, and notices. */
import { Compass, LogOut, Search } from 'lucide-react';
import { lazy, memo, Suspense, useCallback, useDeferredValue, useEffect, useRef, useState } from 'react';
import type { ReactNode, RefObject } from 'react';
import { Link, Route, Switch, useLocation } from 'wouter';
import { DashboardPath } from '../../../../shared/dashboard-paths.ts';
import { useMe } from '../api/session.tsx';
import { withAllMessages } from '../i18n/language.ts';
import { useText } from '../i18n/text.ts';
import { BAR_PATHS, LISTED_PAGES, loadPage, MORE, PAGES, SECTIONS } from './pages.ts';
import type { PageEntry } from './pages.ts';
import { afterPaint } from '../ui/screen/after-paint.ts';
import { Button, IconButton } from '../ui/controls/button.tsx';
import { useMedia } from '../ui/screen/use-media.ts';
import { Callout, Empty, Skeleton } from '../ui/display/states.tsx';
import { countProblems, useTroubles } from '../ui/troubles/use-troubles.ts';
import { Toasts } from '../ui/overlays/toasts.tsx';
import { Mark } from '../ui/display/mark.tsx';
import { PageFault } from './page-fault.tsx';
import { StatusBar } from './status/status-bar.tsx';
import styles from './shell.module.css';
import { Page } from '../ui/display/page.tsx';
import { checkConnection, useConnection } from '../api/live/live-status.ts';

/** The page with all problems. */
const PROBLEMS_PATH = `/${DashboardPath.diagnosis}`;

/** The same width as in the styles of the frame. */
const PHONE = '(width < 56rem)';

const MorePage = lazy(() => withAllMessages(() => import('./more-page.tsx')));

/** The frame with the page that the URL selects. */
export function Shell({ onLogout }: { readonly onLogout: () => void }): ReactNode {
  const { say } = useText();
  const main = useRef<HTMLElement>(null);
  const { palette, open } = usePalette();
  const [location] = useLocation();
  // The pressed link is highlighted at once; the page renders afterwards at a lower priority.
  const drawn = useDeferredValue(location);
  useFocusOnNewPage(main, drawn);
  const isPhone = useMedia(PHONE);
  return (
    <div className={styles['shell']}>
      <a className={styles['skip']} href="#main">
        {say('frame.skip')}
      </a>
      {!isPhone && <SideNavigation onLogout={onLogout} onSearch={open} />}
      <div className={styles['column']}>
        <StatusBar />
        <LostNote />
        <main id="main" ref={main} className={styles['main']} tabIndex={-1}>
          <PageFault key={location}>
            <Suspense fallback={<Skeleton lines={6} />}>
              {drawn === location ? (
                <Switch>
                  {PAGES.map(({ path, view: View }) => (
                    <Route key={path} path={path}>
                      <View />
                    </Route>
                  ))}
                  <Route path={MORE.path}>
                    <MorePage onLogout={onLogout} onSearch={open} />
                  </Route>
                  <Route>
                    <Lost />
                  </Route>
                </Switch>
              ) : (
                <Skeleton lines={6} />
              )}
            </Suspense>
          </PageFault>
        </main>
      </div>
      {isPhone && <BottomBar />}
      <Toasts />
      {palette}
    </div>
  );
}

interface SideProps {
  readonly onLogout: () => void;
  readonly onSearch: () => void;
}

function SideNavigation({ onLogout, onSearch }: SideProps): ReactNode {
  const { say } = useText();
  const [location] = useLocation();
  const { username } = useMe();
  return (
    <nav className={styles['side']} aria-label={say('frame.navigation')}>
      <Link to="/" className={styles['brand']}>
        <Mark size={28} />
        Weir
      </Link>
      <Button icon={Search} onPress={onSearch}>
        {say('palette.open')}
      </Button>
      {SECTIONS.map((section) => {
        const pages = LISTED_PAGES.filter((page) => page.section === section);
        if (pages.length === 0) return null;
        return (
          <div key={section} className="rows-1">
            <h2 className={styles['sectionTitle']}>{say(`section.${section}`)}</h2>
            <ul>
              {pages.map((page) => (
                <li key={page.path}>
                  <PageLink page={page} isCurrent={location === page.path} />
                </li>
              ))}
            </ul>
          </div>
        );
      })}
      {username !== null && (
        <div className={styles['me']}>
          <bdi>{username}</bdi>
          <IconButton icon={LogOut} label={say('session.logout')} onPress={onLogout} />
        </div>
      )}
    </nav>
  );
}

function BottomBar(): ReactNode {
  const { say } = useText();
  const [location] = useLocation();
  const pages = PAGES.filter(({ path }) => BAR_PATHS.includes(path));
  return (
    <nav className={styles['bar']} aria-label={say('frame.bar')}>
      {[...pages, MORE].map((page) => (
        <PageLink key={page.path} page={page} isCurrent={location === page.path} />
      ))}
    </nav>
  );
}

interface PageLinkProps {
  readonly page: Pick<PageEntry, 'path' | 'title' | 'icon'>;
  readonly isCurrent: boolean;
}

/** Memoised, so that opening a page renders only the links whose highlighting changes. */
const PageLink = memo(function PageLink({ page, isCurrent }: PageLinkProps): ReactNode {
  const { say } = useText();
  const [, go] = useLocation();
  const { path, title, icon: Icon } = page;
  return (
    <Link
      to={path}
      onClick={(event) => {
        event.preventDefault();
        afterPaint(() => go(path));
      }}
      className={styles['link']}
      aria-current={isCurrent ? 'page' : undefined}
      onPointerEnter={() => void loadPage(path)}
      onFocus={() => void loadPage(path)}
    >
      <Icon size={20} aria-hidden />
      <span>{say(title)}</span>
      {path === PROBLEMS_PATH && <ProblemCount />}
    </Link>
  );
});

/** Number of problems beside the page that lists them; renders nothing if there are none. */
function ProblemCount(): ReactNode {
  const { say } = useText();
  const count = countProblems(useTroubles() ?? []);
  if (count === 0) return null;
  return (
    <span className={styles['count']} title={say('trouble.count', { count })}>
      <span aria-hidden>{count}</span>
      <span className="unseen">{say('trouble.count', { count })}</span>
    </span>
  );
}

/**
 * Moves the focus to the heading of a newly opened page, so that screen readers read it. The first page does not move
 * the focus.
 */
function useFocusOnNewPage(main: RefObject<HTMLElement | null>, location: string): void {
  const shown = useRef(location);
  useEffect(() => {
    if (shown.current === location) return;
    shown.current = location;
    window.scrollTo(0, 0);
    main.current?.focus({ preventScroll: true });
  }, [location, main]);
}

/** Page for an unknown path. */
function Lost(): ReactNode {
  const { say } = useText();
  return (
    <Page title={say('lost.title')}>
      <Empty icon={Compass} title={say('lost.text')}>
        <Link to="/" className="button-link">
          {say('lost.back')}
        </Link>
      </Empty>
    </Page>
  );
}

const Palette = lazy(() => withAllMessages(() => import('./palette.tsx')));

/** The palette if it is open, and a function that opens it. */
function usePalette(): { readonly palette: ReactNode; readonly open: () => void } {
  const [isOpen, setOpen] = useState(false);
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey) || event.altKey) return;
      event.preventDefault();
      setOpen(true);
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, []);
  const palette = isOpen && (
    <Suspense fallback={null}>
      <Palette onClose={() => setOpen(false)} />
    </Suspense>
  );
  const open = useCallback(() => setOpen(true), []);
  return { palette, open };
}

/** Warning while Weir does not respond. */
function LostNote(): ReactNode {
  const { say, format } = useText();
  const state = useConnection();
  if (state.kind !== 'lost') return null;
  return (
    <div className={styles['lost']}>
      <Callout
        tone="fault"
        actions={<Button onPress={checkConnection}>{say('action.retry')}</Button>}
        isAlert
      >
        {say('connection.lost', { time: format.time(new Date(state.sinceMs)) })}
      </Callout>
    </div>
  );
}
