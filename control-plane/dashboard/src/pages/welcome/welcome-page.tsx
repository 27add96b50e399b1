/** Page after setup: the remaining steps until every device uses Weir, each with a check whether it is done. */
import { ListChecks, Network, Router, ShieldCheck } from 'lucide-react';
import type { LucideIcon } from 'lucide-react';
import type { ReactNode } from 'react';
import { Link, useLocation } from 'wouter';
import { useNodeStatus } from '../../api/live/live-status.ts';
import { useAsk } from '../../api/use-ask.ts';
import { useText } from '../../i18n/text.ts';
import { Card, Page } from '../../ui/display/page.tsx';
import { Disclosure } from '../../ui/display/disclosure.tsx';
import { Answered, Callout } from '../../ui/display/states.tsx';
import { ListCatalog } from '../../ui/policy/list-catalog.tsx';
import type { Reach } from '../../api/router-state.ts';
import styles from './welcome-page.module.css';
import { PAGE_BASE } from '../../api/place.ts';
import { QrCode } from '../../ui/display/qr-code.tsx';
import { enteredAddresses, originForOthers, routerObstacle } from '../../api/router-state.ts';
import { CopyField } from '../../ui/controls/copy-field.tsx';

/** Interval at which the steps are checked. */
const CHECK_MS = 5_000;

export default function WelcomePage(): ReactNode {
  const { say } = useText();
  const reach = useAsk('GET /system/reachability', {}, { everyMs: CHECK_MS });
  return (
    <Page title={say('welcome.title')} lead={say('welcome.lead')}>
      <Answered of={reach} lines={6}>
        {(found) => <Steps reach={found} />}
      </Answered>
      <Link to="/" className="button-link">
        {say('lost.back')}
      </Link>
    </Page>
  );
}

function Steps({ reach }: { readonly reach: Reach }): ReactNode {
  const { say, format } = useText();
  // The same number as in the status bar.
  const { blockedNames } = useNodeStatus();
  return (
    <ol className="rows-4">
      <Step icon={Network} title={say('welcome.port')}>
        <PortState dns={reach.dns} />
      </Step>
      <Step icon={ListChecks} title={say('page.lists')}>
        <p>
          {reach.names_active === 0
            ? say('welcome.lists.none')
            : say('welcome.lists.some', { count: format.count(blockedNames ?? reach.names_active) })}
        </p>
        <ListsStep />
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

/** Choice of lists. */
function ListsStep(): ReactNode {
  const { say } = useText();
  const [, navigate] = useLocation();
  const sources = useAsk('GET /blocklist-sources', {});
  return (
    <>
      <Disclosure title={say('lists.known')}>
        <ListCatalog
          kind="block"
          urls={sources.data?.flatMap(({ url }) => url ?? []) ?? []}
          onChoose={({ url, name }) => navigate(`/lists?${String(new URLSearchParams({ add: url, name }))}`)}
        />
      </Disclosure>
      <Link to="/lists" className="button-link">
        {say('welcome.lists.look')}
      </Link>
      <Link to="/lists?add=rules" className="button-link">
        {say('lists.custom.add')}
      </Link>
    </>
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

/** Links to the check page, for this device and as a QR code for a phone, and the number of devices seen so far. */
function CheckStep({ reach }: { readonly reach: Reach }): ReactNode {
  const { say } = useText();
  const origin = originForOthers(reach, location);
  const address = origin === null ? null : `${origin}${PAGE_BASE}/check`;
  return (
    <div className={styles['proof']}>
      {address !== null && <QrCode text={address} label={say('welcome.proof.code', { address })} />}
      <div className={styles['seen']}>
        <a href="./check" className="button-link" target="_blank" rel="noreferrer">
          {say('welcome.proof.here')}
        </a>
        <div role="status" className={styles['seen']}>
          <ThisDevice device={reach.this_device} />
          <p>{say('welcome.proof.seen', { count: reach.devices })}</p>
        </div>
        {address !== null && <p className={styles['quiet']}>{address}</p>}
      </div>
    </div>
  );
}

function ThisDevice({ device }: { readonly device: Reach['this_device'] }): ReactNode {
  const { say, format } = useText();
  if (device.last_seen !== null)
    return <p>{say('welcome.device.uses', { when: format.moment(device.last_seen) })}</p>;
  return <p>{say(device.is_server ? 'welcome.device.server' : 'welcome.device.not')}</p>;
}

/** State of the DNS port, and the command that frees the port. */
function PortState({ dns }: { readonly dns: Reach['dns'] }): ReactNode {
  const { say } = useText();
  if (dns.port_53 === 'weir') return <Callout tone="good">{say('welcome.port.good')}</Callout>;
  const { program = null, pid = null } = dns.holder ?? {};
  const reason = dns.is_chosen
    ? say('welcome.port.chosen')
    : dns.port_53 === 'taken'
      ? program === null
        ? say('welcome.port.taken')
        : say('welcome.port.holder', { program: pid === null ? program : `${program} (${String(pid)})` })
      : say(dns.port_53 === 'free' ? 'welcome.port.free' : 'welcome.port.refused');
  return (
    <>
      <Callout tone="warning">
        {say('welcome.port.other', { port: String(dns.dns_port) })} {reason}
      </Callout>
      {dns.command === null ? (
        !dns.is_chosen && <p>{say(dns.port_53 === 'taken' ? 'welcome.port.find' : 'welcome.port.restart')}</p>
      ) : (
        <>
          <CopyField label={say('welcome.port.command')} text={dns.command} />
          {!dns.command.includes('restart weir') && <p>{say('welcome.port.restart')}</p>}
        </>
      )}
    </>
  );
}

const OBSTACLES = {
  port: 'welcome.router.locked',
  address: 'welcome.router.nowhere',
  names: 'welcome.router.unfiltered',
} as const;

/** The addresses to enter in the router, shown once users can safely change the router. */
function RouterStep({ reach }: { readonly reach: Reach }): ReactNode {
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
      <Link to="/guides" className="button-link">
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

/** Shows which clients may send queries. By default, clients in networks behind other routers may not. */
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
