/** The only page for users with the role family: their devices, and what is paused or allowed on each. */
import { CirclePause, CirclePlay, LogOut, MonitorSmartphone, Plus } from 'lucide-react';
import { useState } from 'react';
import type { ReactNode } from 'react';
import type { AnswerOf } from '../../../../../shared/api/client/typed-client.ts';
import { useMe } from '../../api/session.tsx';
import { useAsk } from '../../api/use-ask.ts';
import { useChange } from '../../api/use-change.ts';
import { useText } from '../../i18n/text.ts';
import { Button } from '../../ui/controls/button.tsx';
import { Appearance } from '../../ui/display/appearance.tsx';
import { Disclosure } from '../../ui/display/disclosure.tsx';
import { Card, Page } from '../../ui/display/page.tsx';
import { Answered, Empty } from '../../ui/display/states.tsx';
import { Badge } from '../../ui/display/values.tsx';
import { Menu } from '../../ui/overlays/menu.tsx';
import { nameOf } from '../../ui/policy/client-name.ts';
import { GrantedName } from '../../ui/policy/granted-name.tsx';
import { AllowDialog } from './allow-dialog.tsx';
import { AskedNames } from './asked-names.tsx';
import { grantEnd, SPANS } from '../../ui/grants/grant-spans.ts';
import { ServiceDialog } from '../../ui/grants/service-dialog.tsx';
import styles from './family-page.module.css';

type Device = AnswerOf<'GET /clients'>['data'][number];
type Grant = AnswerOf<'GET /grants'>[number];

const REFRESH_MS = 10_000;

interface FamilyPageProps {
  readonly onLogout: () => void;
}

export default function FamilyPage({ onLogout }: FamilyPageProps): ReactNode {
  const { say } = useText();
  const { username } = useMe();
  const devices = useAsk('GET /clients', { query: { limit: 1000 } }, { everyMs: REFRESH_MS });
  const grants = useAsk('GET /grants', {}, { everyMs: REFRESH_MS });
  return (
    <Page
      title={say('family.title')}
      lead={<bdi>{username}</bdi>}
      actions={
        <Button icon={LogOut} onPress={onLogout}>
          {say('session.logout')}
        </Button>
      }
    >
      <AskedNames />
      <Answered of={devices}>
        {({ data }) =>
          data.length === 0 ? (
            <Card>
              <Empty icon={MonitorSmartphone} title={say('family.none')}>
                <p>{say('family.noneText')}</p>
              </Empty>
            </Card>
          ) : (
            <Answered of={grants}>
              {(all) =>
                data
                  .toSorted((one, other) => nameOf(one).localeCompare(nameOf(other)))
                  .map((device) => (
                    <DeviceCard
                      key={device.id}
                      device={device}
                      grants={all.filter(({ client_id: id }) => id === device.id)}
                    />
                  ))
              }
            </Answered>
          )
        }
      </Answered>
      <Disclosure title={say('settings.part.appearance')}>
        <Appearance />
      </Disclosure>
    </Page>
  );
}

interface DeviceCardProps {
  readonly device: Device;
  readonly grants: readonly Grant[];
}

function DeviceCard({ device, grants }: DeviceCardProps): ReactNode {
  const { say } = useText();
  const [opened, setOpened] = useState<'name' | 'service' | null>(null);
  const close = (): void => setOpened(null);
  const name = nameOf(device);
  return (
    <Card title={name}>
      <div className={styles['actions']}>
        <SpanMenu device={device} action="block" />
        <SpanMenu device={device} action="allow" />
        <Button
          icon={Plus}
          aria-label={say('family.allowNameOf', { name })}
          onPress={() => setOpened('name')}
        >
          {say('family.allowName')}
        </Button>
        <Button
          icon={Plus}
          aria-label={say('grants.allowServiceOf', { name })}
          onPress={() => setOpened('service')}
        >
          {say('grants.allowService')}
        </Button>
      </div>
      {grants.length > 0 && (
        <ul className="rows-2">
          {grants.map((grant) => (
            <li key={grant.id} className={styles['grant']}>
              <RunningGrant grant={grant} />
            </li>
          ))}
        </ul>
      )}
      {opened === 'name' && <AllowDialog clientId={device.id} name={name} onClose={close} />}
      {opened === 'service' && <ServiceDialog clientId={device.id} name={name} onClose={close} />}
    </Card>
  );
}

interface SpanMenuProps {
  readonly device: Device;
  readonly action: 'allow' | 'block';
}

/** Blocks or allows everything on a device, for one of three durations. */
function SpanMenu({ device, action }: SpanMenuProps): ReactNode {
  const { say, format } = useText();
  const create = useChange('POST /grants', {
    done: action === 'block' ? 'family.paused' : 'timed.allowed',
  });
  const text = say(action === 'block' ? 'pause.pause' : 'family.allowAll');
  const now = new Date();
  return (
    <Menu
      label={say(action === 'block' ? 'pause.pauseOf' : 'family.allowAllOf', { name: nameOf(device) })}
      button={
        <Button
          icon={action === 'block' ? CirclePause : CirclePlay}
          isPending={create.isPending}
          aria-label={say(action === 'block' ? 'pause.pauseOf' : 'family.allowAllOf', {
            name: nameOf(device),
          })}
        >
          {text}
        </Button>
      }
      actions={SPANS.map((span) => ({
        id: span,
        text:
          span === 'tomorrow'
            ? say('blocking.pauseTomorrow', { time: format.shortTime(grantEnd(span, now).until) })
            : say('blocking.pauseFor', { span: format.span(Number(span)) }),
        run: () =>
          void create.run({ body: { client_id: device.id, action, ...grantEnd(span, new Date()).body } }),
      }))}
    />
  );
}

function RunningGrant({ grant }: { readonly grant: Grant }): ReactNode {
  const { say, format } = useText();
  const end = useChange('DELETE /grants/{id}', { done: 'grants.ended' });
  const { until, secs_left: left } = grant;
  return (
    <>
      <Badge tone={grant.action === 'allow' ? 'allowed' : 'blocked'}>
        {say(grant.action === 'allow' ? 'groups.rules.isAllowed' : 'groups.rules.isBlocked')}
      </Badge>
      <span className={styles['what']}>
        <GrantedName grant={grant} />
        {until !== null && left !== null ? (
          <time dateTime={until} className={styles['until']}>
            {say('schedules.now.until', {
              moment: (left < 86_400 ? format.time : format.moment)(until),
              left: format.ago(until),
            })}
          </time>
        ) : (
          <span className={styles['until']}>{say('family.byAdmin')}</span>
        )}
      </span>
      {until !== null && (
        <Button isPending={end.isPending} onPress={() => void end.run({ params: { id: grant.id } })}>
          {say('grants.end')}
        </Button>
      )}
    </>
  );
}
