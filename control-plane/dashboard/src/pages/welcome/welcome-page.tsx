/** After the password: what is left to do until every device at home uses Weir, and how to see that it does. */
import { ListChecks, Network, Router, ShieldCheck } from 'lucide-react';
import type { LucideIcon } from 'lucide-react';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { useAsk } from '../../api/use-ask.ts';
import { useText } from '../../i18n/text.ts';
import { Card, Page } from '../../ui/display/page.tsx';
import { Answered } from '../../ui/display/states.tsx';
import { CheckStep } from './check-step.tsx';
import { PortState } from './port-step.tsx';
import type { Reach } from '../../api/router-state.ts';
import { RouterStep } from './router-step.tsx';
import styles from './welcome-page.module.css';

/** Steps are checked again after this time. */
const CHECK_MS = 5_000;

/** The page. */
export default function WelcomePage(): ReactNode {
  const { say } = useText();
  const reach = useAsk('GET /system/reachability', {}, { everyMs: CHECK_MS });
  return (
    <Page title={say('welcome.title')} lead={say('welcome.lead')}>
      <Answered of={reach} lines={6}>
        {(found) => <Steps reach={found} />}
      </Answered>
      <Link to="/" className="standing">
        {say('lost.back')}
      </Link>
    </Page>
  );
}

function Steps({ reach }: { readonly reach: Reach }): ReactNode {
  const { say } = useText();
  return (
    <ol className={styles['steps']}>
      <Step icon={Network} title={say('welcome.port')}>
        <PortState dns={reach.dns} />
      </Step>
      <Step icon={ListChecks} title={say('page.lists')}>
        <FilterState names={reach.names_active} />
        <Link to="/lists" className="standing">
          {say('welcome.lists.look')}
        </Link>
      </Step>
      <Step icon={Router} title={say('welcome.router')}>
        <RouterStep reach={reach} />
      </Step>
      <Step icon={ShieldCheck} title={say('guides.proof')}>
        <p>{say('welcome.proof.text')}</p>
        <CheckStep reach={reach} />
      </Step>
    </ol>
  );
}

interface StepProps {
  readonly icon: LucideIcon;
  readonly title: string;
  readonly children: ReactNode;
}

function Step({ icon: Icon, title, children }: StepProps): ReactNode {
  return (
    <li>
      <Card>
        <h2 className={styles['title']}>
          <Icon size={22} aria-hidden />
          {title}
        </h2>
        {children}
      </Card>
    </li>
  );
}

function FilterState({ names }: { readonly names: number }): ReactNode {
  const { say, format } = useText();
  return (
    <p>
      {names === 0 ? say('welcome.lists.none') : say('welcome.lists.some', { count: format.count(names) })}
    </p>
  );
}
