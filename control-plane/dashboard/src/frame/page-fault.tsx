/** Keeps a fault of one page from taking the others along: says so, and offers to load the page again. */
import { Component } from 'react';
import type { ReactNode } from 'react';
import { say } from '../i18n/say.ts';
import { Button } from '../ui/controls/button.tsx';
import { Page } from '../ui/display/page.tsx';
import { Callout } from '../ui/display/states.tsx';

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
    // After an upgrade of the server the parts of the page before are gone.
    const text = isMissingPart(fault) ? say('fault.upgraded') : say('fault.page', { text: fault.message });
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
}

function isMissingPart(fault: Error): boolean {
  return /dynamically imported module|Importing a module script failed|preload/i.test(fault.message);
}
