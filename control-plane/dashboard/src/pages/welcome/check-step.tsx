/** The page that checks a device, for this one and for a phone; and the devices that were seen so far. */
import type { ReactNode } from 'react';
import { PAGE_BASE } from '../../api/place.ts';
import { useText } from '../../i18n/text.ts';
import { QrCode } from '../../ui/display/qr-code.tsx';
import { originForOthers } from './router-state.ts';
import type { Reach } from './router-state.ts';
import styles from './welcome-page.module.css';

/** The step. */
export function CheckStep({ reach }: { readonly reach: Reach }): ReactNode {
  const { say } = useText();
  const origin = originForOthers(reach, location);
  const address = origin === null ? null : `${origin}${PAGE_BASE}/check`;
  return (
    <div className={styles['proof']}>
      {address !== null && <QrCode text={address} label={say('welcome.proof.code', { address })} />}
      <div className={styles['seen']}>
        <a href="./check" className="standing" target="_blank" rel="noreferrer">
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
