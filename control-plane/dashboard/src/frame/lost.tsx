/** Where an address names no page. */
import { Compass } from 'lucide-react';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { useText } from '../i18n/text.ts';
import { Page } from '../ui/display/page.tsx';
import { Empty } from '../ui/display/states.tsx';

/** Says so, and leads back. */
export function Lost(): ReactNode {
  const { say } = useText();
  return (
    <Page title={say('lost.title')}>
      <Empty icon={Compass} title={say('lost.text')}>
        <Link to="/" className="standing">
          {say('lost.back')}
        </Link>
      </Empty>
    </Page>
  );
}
