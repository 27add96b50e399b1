/** After the password: what is left to do until every device at home uses Weir, and how to see that it does. */
import { ListChecks, Router, ShieldCheck } from 'lucide-react';
import type { LucideIcon } from 'lucide-react';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { PAGE_BASE } from '../../api/place.ts';
import { useAsk } from '../../api/use-ask.ts';
import { useText } from '../../i18n/text.ts';
import { Card, Page } from '../../ui/display/page.tsx';
import { QrCode } from '../../ui/display/qr-code.tsx';
import { Answered } from '../../ui/display/states.tsx';
import styles from './welcome-page.module.css';

const SEEN_MS = 5_000;

/** The page. */
export default function WelcomePage(): ReactNode {
  const { say } = useText();
  return (
    <Page title={say('welcome.title')} lead={say('welcome.lead')}>
      <ol className={styles['steps']}>
        <Step icon={ListChecks} title={say('welcome.lists')}>
          <FilterState />
          <Link to="/lists" className="standing">
            {say('welcome.lists.look')}
          </Link>
        </Step>
        <Step icon={Router} title={say('welcome.router')}>
          <p>{say('welcome.router.text')}</p>
          <code className={styles['address']}>{location.hostname}</code>
          <p className={styles['quiet']}>{say('welcome.router.only')}</p>
          <Link to="/guides" className="standing">
            {say('welcome.router.guides')}
          </Link>
          <MayAsk />
        </Step>
        <Step icon={ShieldCheck} title={say('welcome.proof')}>
          <p>{say('welcome.proof.text')}</p>
          <Proof />
        </Step>
      </ol>
      <Link to="/" className="standing">
        {say('welcome.done')}
      </Link>
    </Page>
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

function FilterState(): ReactNode {
  const { say, format } = useText();
  const filter = useAsk('GET /block-filter/stats', {}, { everyMs: SEEN_MS });
  return (
    <Answered of={filter} lines={1}>
      {({ blocked_domains: names }) => (
        <p>
          {names === 0
            ? say('welcome.lists.none')
            : say('welcome.lists.some', { count: format.count(names) })}
        </p>
      )}
    </Answered>
  );
}

/** Networks of other routers are not among those that may ask at first. */
function MayAsk(): ReactNode {
  const { say } = useText();
  const access = useAsk('GET /clients/refused', {});
  if (access.data === undefined) return null;
  const { allowed_clients: allowed } = access.data;
  const isDefault = allowed.length === 2 && allowed.includes('private') && allowed.includes('connected');
  const text = allowed.includes('any')
    ? 'welcome.mayAsk.any'
    : isDefault
      ? 'welcome.mayAsk.default'
      : 'welcome.mayAsk.listed';
  return (
    <p className={styles['quiet']}>
      {say(text)} <Link to="/clients?tab=access">{say('welcome.mayAsk.look')}</Link>
    </p>
  );
}

/** The page that proves it, for this device and for a phone; and the devices that were seen so far. */
function Proof(): ReactNode {
  const { say, format } = useText();
  const clients = useAsk('GET /clients', { query: { limit: 1 } }, { everyMs: SEEN_MS });
  const address = `${location.origin}${PAGE_BASE}/check`;
  return (
    <div className={styles['proof']}>
      <QrCode text={address} label={say('welcome.proof.code', { address })} />
      <div className={styles['seen']}>
        <a href="./check" className="standing" target="_blank" rel="noreferrer">
          {say('welcome.proof.here')}
        </a>
        <p className={styles['quiet']} role="status">
          {say('welcome.proof.seen', { count: clients.data?.total ?? 0 })}
        </p>
        {isOwnName(location.hostname) && (
          <p className={styles['quiet']}>{say('welcome.proof.local', { name: location.hostname })}</p>
        )}
        <p className={styles['quiet']}>{format.list([address])}</p>
      </div>
    </div>
  );
}

/** A phone cannot open an address that means the machine itself. */
function isOwnName(host: string): boolean {
  return host === 'localhost' || host === '[::1]' || host.startsWith('127.');
}
