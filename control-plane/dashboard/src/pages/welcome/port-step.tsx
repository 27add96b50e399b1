/** Whether devices can ask Weir: they ask port 53 and no other. */
import type { ReactNode } from 'react';
import { useText } from '../../i18n/text.ts';
import { CopyField } from '../../ui/controls/copy-field.tsx';
import { Callout } from '../../ui/display/states.tsx';
import type { Reach } from './router-state.ts';

/** The state of the port, and the command that frees it. */
export function PortState({ dns }: { readonly dns: Reach['dns'] }): ReactNode {
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
