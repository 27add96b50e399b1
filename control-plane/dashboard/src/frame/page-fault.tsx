/** Error boundary of a page: shows a message, and offers to load the page again. */
import { Component, useEffect, useRef, useState } from 'react';
import type { ReactNode } from 'react';
import type { ServedBuild } from '../api/live/compare-builds.ts';
import { findServedBuild } from '../api/live/served-build.ts';
import { say } from '../i18n/say.ts';
import { useText } from '../i18n/text.ts';
import { Button } from '../ui/controls/button.tsx';
import { Page } from '../ui/display/page.tsx';
import { Callout, Skeleton } from '../ui/display/states.tsx';

/** Delay before the next attempt. */
const AGAIN_MS = 2_000;

interface State {
  readonly fault: Error | null;
}

/** Shows its children until one of them throws. */
export class PageFault extends Component<{ readonly children: ReactNode }, State> {
  override state: State = { fault: null };

  static getDerivedStateFromError(fault: Error): State {
    return { fault };
  }

  override render(): ReactNode {
    const { fault } = this.state;
    if (fault === null) return this.props.children;
    if (isMissingPart(fault)) return <MissingPart />;
    return <Fault text={say('fault.page', { text: fault.message })} />;
  }
}

/**
 * Shown if a part of the page could not be loaded: Weir does not respond, or was upgraded and no longer has the file.
 */
function MissingPart(): ReactNode {
  const { say } = useText();
  const [build, setBuild] = useState<ServedBuild | null>(null);
  const [attempt, setAttempt] = useState(0);
  const wasUnreachable = useRef(false);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isOver = false;
    const check = async (): Promise<void> => {
      const found = await findServedBuild();
      if (isOver) return;
      // The page shows nothing yet, so nothing is lost by a reload.
      if (found === 'same' && wasUnreachable.current) location.reload();
      wasUnreachable.current ||= found === 'unreachable';
      setBuild(found);
      if (found === 'unreachable') timer = setTimeout(() => setAttempt(attempt + 1), AGAIN_MS);
    };
    void check();
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [attempt]);
  return build === null ? <Skeleton lines={6} /> : <Fault text={say(`fault.part.${build}`)} />;
}

function Fault({ text }: { readonly text: string }): ReactNode {
  const { say } = useText();
  return (
    <Page title={say('fault.title')}>
      <Callout
        tone="warning"
        isAlert
        actions={<Button onPress={() => location.reload()}>{say('action.reload')}</Button>}
      >
        {text}
      </Callout>
    </Page>
  );
}

function isMissingPart(fault: Error): boolean {
  return /dynamically imported module|Importing a module script failed|preload/i.test(fault.message);
}
