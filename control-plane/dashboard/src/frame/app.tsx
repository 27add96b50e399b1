/** Root component: setup, login, or the frame with its pages. */
import { QueryClientProvider, useQuery, useQueryClient } from '@tanstack/react-query';
import { lazy, Suspense, useEffect, useState, useSyncExternalStore } from 'react';
import type { ReactNode } from 'react';
import { I18nProvider } from 'react-aria-components/I18nProvider';
import { Router, useLocation } from 'wouter';
import type { AnswerOf } from '../../../../shared/api/client/typed-client.ts';
import { ask } from '../api/ask.ts';
import { startConnection } from '../api/live/live-status.ts';
import { meOf } from '../api/me.ts';
import type { Me } from '../api/me.ts';
import { PAGE_BASE } from '../api/place.ts';
import { createStore } from '../api/store.ts';
import { MeProvider } from '../api/session.tsx';
import { endSignIn, isSignInNeeded, watchSignIn } from '../api/sign-in.ts';
import { messages, withAllMessages } from '../i18n/language.ts';
import { useText } from '../i18n/text.ts';
import { Answered } from '../ui/display/states.tsx';
import { rememberLogin } from './first-questions.ts';
import { later } from './later-view.ts';
import { loadPage } from './pages.ts';
import { Shell } from './shell.tsx';

/** The login page is loaded on demand, because most visitors are already logged in. */
const LoginPage = later(() => import('./login/login-page.tsx'));
const SetupPage = lazy(() => withAllMessages(() => import('./login/setup-page.tsx')));
const FamilyFrame = later(() => withAllMessages(() => import('./family-frame.tsx')));
const LoginAgain = lazy(() => import('./login/login-again.tsx'));

export function App(): ReactNode {
  const [store] = useState(createStore);
  useText();
  return (
    <I18nProvider locale={messages.locales?.[0] ?? messages.locale}>
      <QueryClientProvider client={store}>
        <Router base={PAGE_BASE}>
          <Entrance />
        </Router>
      </QueryClientProvider>
    </I18nProvider>
  );
}

/** Shows setup or login until the user has a session. */
function Entrance(): ReactNode {
  const store = useQueryClient();
  const [location, go] = useLocation();
  const state = useQuery({
    queryKey: ['GET /auth/status'],
    queryFn: () => askWho(location),
    // `setup_required` is null while the database is unavailable.
    refetchInterval: ({ state: { data } }) => data?.setup_required === null && AGAIN_MS,
  });
  const enter = (): void => {
    store.clear();
    void state.refetch();
  };
  return (
    <Answered of={state}>
      {(auth) => {
        if (auth.setup_required)
          return (
            <Suspense fallback={null}>
              <SetupPage
                codeFile={auth.setup_code_file}
                onDone={() => {
                  go('/setup');
                  enter();
                }}
              />
            </Suspense>
          );
        const me = meOf(auth);
        if (me === null)
          return (
            <Suspense fallback={null}>
              <LoginPage onLogin={enter} />
            </Suspense>
          );
        return <Inside me={me} onLeave={enter} />;
      }}
    </Answered>
  );
}

/** Interval of requests while it is not known whether setup is needed. */
const AGAIN_MS = 2000;

/** Requests the login state, and loads the code of the first page in parallel. */
async function askWho(path: string): Promise<AnswerOf<'GET /auth/status'>> {
  const page = loadPage(path);
  const auth = await ask('GET /auth/status');
  const me = meOf(auth);
  rememberLogin(me);
  if (me?.isFamily === true) await FamilyFrame.load().catch(() => undefined);
  else if (me !== null) await page;
  else if (!auth.setup_required) await LoginPage.load().catch(() => undefined);
  return auth;
}

function Inside({ me, onLeave }: { readonly me: Me; readonly onLeave: () => void }): ReactNode {
  const store = useQueryClient();
  // The role family has no access to the state of the node.
  useEffect(() => (me.isFamily ? undefined : startConnection(store)), [me.isFamily, store]);
  const needsSignIn = useSyncExternalStore(watchSignIn, isSignInNeeded);
  const leave = (): void => void ask('POST /auth/logout').then(onLeave);
  return (
    <MeProvider me={me}>
      {me.isFamily ? (
        <Suspense fallback={null}>
          <FamilyFrame onLogout={leave} />
        </Suspense>
      ) : (
        <Shell onLogout={leave} />
      )}
      {needsSignIn && (
        <Suspense fallback={null}>
          <LoginAgain username={me.username} onLogin={endSignIn} />
        </Suspense>
      )}
    </MeProvider>
  );
}
