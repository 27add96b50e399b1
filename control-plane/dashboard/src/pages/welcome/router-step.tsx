/** What to enter in the router; only once it can work. */
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { useAsk } from '../../api/use-ask.ts';
import { useText } from '../../i18n/text.ts';
import { Callout } from '../../ui/display/states.tsx';
import { enteredAddresses, routerObstacle } from '../../api/router-state.ts';
import type { Reach } from '../../api/router-state.ts';
import styles from './welcome-page.module.css';

const OBSTACLES = {
  port: 'welcome.router.locked',
  address: 'welcome.router.nowhere',
  names: 'welcome.router.unfiltered',
} as const;

/** The step. */
export function RouterStep({ reach }: { readonly reach: Reach }): ReactNode {
  const { say, format } = useText();
  const sources = useAsk('GET /blocklist-sources', {});
  const wantsLists = sources.data?.some(({ enabled }) => enabled) ?? true;
  const obstacle = routerObstacle(reach, location, wantsLists);
  if (obstacle !== null) return <Callout tone="info">{say(OBSTACLES[obstacle])}</Callout>;
  const { ipv4, ipv6, linkLocal } = enteredAddresses(reach, location);
  return (
    <>
      <p>{say(reach.is_container ? 'welcome.router.container' : 'welcome.router.text')}</p>
      <Addresses title={say('welcome.router.ipv4')} addresses={ipv4} />
      <Addresses title={say('welcome.router.ipv6')} addresses={ipv6} />
      {linkLocal.length > 0 && (
        <p className={styles['quiet']}>
          {say('welcome.router.linkLocal', { addresses: format.list(linkLocal) })}
        </p>
      )}
      <p className={styles['quiet']}>{say('welcome.router.only')}</p>
      <Link to="/guides" className="standing">
        {say('welcome.router.guides')}
      </Link>
      <MayAsk />
    </>
  );
}

interface AddressesProps {
  readonly title: string;
  readonly addresses: readonly string[];
}

function Addresses({ title, addresses }: AddressesProps): ReactNode {
  if (addresses.length === 0) return null;
  return (
    <div className={styles['addresses']}>
      <span>{title}</span>
      {addresses.map((address) => (
        <code key={address} className={styles['address']}>
          {address}
        </code>
      ))}
    </div>
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
      {say(text)} <Link to="/clients?tab=access">{say('access.who')}</Link>
    </p>
  );
}
