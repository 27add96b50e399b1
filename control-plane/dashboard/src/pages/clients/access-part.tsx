/**
 * Allowed clients, networks that were refused, and networks that will be refused after an announced change; each
 * network can be allowed with one click.
 */
import { Check, ShieldCheck } from 'lucide-react';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import type { AnswerOf } from '../../../../../shared/api/client/typed-client.ts';
import { useMe } from '../../api/session.tsx';
import { useAsk } from '../../api/use-ask.ts';
import { useChange } from '../../api/use-change.ts';
import { useText } from '../../i18n/text.ts';
import { Button } from '../../ui/controls/button.tsx';
import { CheckboxField } from '../../ui/controls/fields.tsx';
import { DataTable } from '../../ui/display/data-table.tsx';
import type { Column } from '../../ui/display/data-table.tsx';
import { Card, Stack } from '../../ui/display/page.tsx';
import { Answered, Callout, Empty } from '../../ui/display/states.tsx';
import { Badge, Moment } from '../../ui/display/values.tsx';
import { keyOfCode } from '../../i18n/say.ts';

type Access = AnswerOf<'GET /clients/refused'>;
type Refused = Access['refused'][number];
type Announced = NonNullable<Access['announced']>;

const REFRESH_MS = 10_000;

export function AccessPart(): ReactNode {
  const access = useAsk('GET /clients/refused', {}, { everyMs: REFRESH_MS });
  return (
    <Answered of={access} lines={8}>
      {(answer) => (
        <Stack>
          <WhoMayAsk access={answer} />
          {answer.announced !== null && answer.announced.networks.length > 0 && (
            <AnnouncedNetworks announced={answer.announced} />
          )}
          <RefusedNetworks refused={answer.refused} />
        </Stack>
      )}
    </Answered>
  );
}

function WhoMayAsk({ access }: { readonly access: Access }): ReactNode {
  const { say, format } = useText();
  const { allowed_clients: allowed, announced, warnings, only_address: only } = access;
  return (
    <Card
      title={say('access.who')}
      actions={
        <Link to="/settings?search=allowed_clients" className="button-link">
          {say('access.change')}
        </Link>
      }
    >
      {warnings.includes('open_without_limit') && (
        <Callout tone="warning">{say('access.warning.open')}</Callout>
      )}
      {only !== null && <Callout tone="info">{say('access.warning.one', { address: only })}</Callout>}
      {announced !== null && (
        <Callout tone="info">{say('access.anyoneUntil', { time: format.moment(announced.until) })}</Callout>
      )}
      <ul className="rows-4">
        {allowed.map((entry) => {
          const word = keyOfCode('access.word', entry);
          return <li key={entry}>{word === null ? <bdi>{entry}</bdi> : say(word)}</li>;
        })}
        <li>{say('access.word.keys')}</li>
      </ul>
    </Card>
  );
}

/** All networks are selected initially, so that one click keeps DNS working for all of them. */
function AnnouncedNetworks({ announced }: { readonly announced: Announced }): ReactNode {
  const { say, format } = useText();
  const { isAdmin } = useMe();
  const [left, setLeft] = useState<readonly string[]>([]);
  const allow = useChange('POST /clients/allowed', { done: 'access.allowed' });
  const { networks, until } = announced;
  const chosen = networks.map(({ network }) => network).filter((network) => !left.includes(network));
  const columns: readonly Column<Announced['networks'][number]>[] = [
    {
      id: 'network',
      title: say('field.network'),
      isName: true,
      cell: ({ network }) =>
        isAdmin ? (
          <CheckboxField
            isSelected={!left.includes(network)}
            onChange={(isChosen) =>
              setLeft(isChosen ? left.filter((other) => other !== network) : [...left, network])
            }
          >
            <bdi>{network}</bdi>
          </CheckboxField>
        ) : (
          <bdi>{network}</bdi>
        ),
    },
    {
      id: 'clients',
      title: say('field.devices'),
      isNumber: true,
      cell: ({ clients }) => format.count(clients),
    },
    {
      id: 'last',
      title: say('access.lastDevice'),
      cell: ({ name, last_client: address }) => <bdi title={address}>{name ?? address}</bdi>,
    },
    { id: 'seen', title: say('field.lastSeen'), cell: ({ last_seen: at }) => <Moment at={at} /> },
  ];
  return (
    <Card title={say('access.announced')}>
      <p>{say('access.announced.help', { time: format.moment(until) })}</p>
      <DataTable
        label={say('access.announced')}
        columns={columns}
        rows={networks}
        keyOf={({ network }) => network}
      />
      {isAdmin && (
        <>
          <p className="quiet">{say('access.announced.rest')}</p>
          <div>
            <Button
              kind="main"
              icon={Check}
              isDisabled={chosen.length === 0}
              isPending={allow.isPending}
              onPress={() => void allow.run({ body: { networks: chosen } })}
            >
              {say('access.allowSome', { count: chosen.length })}
            </Button>
          </div>
        </>
      )}
    </Card>
  );
}

function RefusedNetworks({ refused }: { readonly refused: readonly Refused[] }): ReactNode {
  const { say, format } = useText();
  const allow = useChange('POST /clients/allowed', { done: 'access.allowed' });
  const columns: readonly Column<Refused>[] = [
    {
      id: 'network',
      title: say('field.network'),
      isName: true,
      cell: ({ network }) => <bdi>{network}</bdi>,
    },
    {
      id: 'last',
      title: say('access.lastAddress'),
      cell: ({ last_client: address }) => <bdi>{address}</bdi>,
    },
    { id: 'count', title: say('field.queries'), isNumber: true, cell: ({ count }) => format.count(count) },
    { id: 'at', title: say('access.lastRefused'), cell: ({ last_refused: at }) => <Moment at={at} /> },
    {
      id: 'actions',
      title: say('field.actions'),
      isActions: true,
      isForAdmins: true,
      cell: ({ network, is_blocked: isBlocked }) =>
        isBlocked ? (
          <Badge tone="blocked">{say('access.blocked')}</Badge>
        ) : (
          <Button
            icon={Check}
            isDisabled={allow.isPending}
            onPress={() => void allow.run({ body: { networks: [network] } })}
          >
            {say('action.allow')} <span className="unseen">{network}</span>
          </Button>
        ),
    },
  ];
  return (
    <Card title={say('access.refused')}>
      <p>{say('access.refused.help')}</p>
      <DataTable
        label={say('access.refused')}
        columns={columns}
        rows={refused}
        keyOf={({ network }) => network}
        empty={<Empty icon={ShieldCheck} title={say('access.refused.none')} />}
      />
    </Card>
  );
}
