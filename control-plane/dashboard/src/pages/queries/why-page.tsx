/** Page that explains how Weir answers a name for any device or group, even if the name is not in the log. */
import { CircleHelp } from 'lucide-react';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { ForAdmins } from '../../api/session.tsx';
import { useAsk } from '../../api/use-ask.ts';
import { useUrlState } from '../../api/url-state.ts';
import { nameOf } from '../../ui/policy/client-name.ts';
import { useText } from '../../i18n/text.ts';
import { Button } from '../../ui/controls/button.tsx';
import { SelectField, TextField } from '../../ui/controls/fields.tsx';
import type { Suggestion } from '../../ui/controls/fields.tsx';
import { Card, Page, Stack } from '../../ui/display/page.tsx';
import { Answered } from '../../ui/display/states.tsx';
import { Badge, DomainName } from '../../ui/display/values.tsx';
import { useGroups } from '../../ui/policy/groups.tsx';
import { Explanation } from './explain/explanation.tsx';
import type { Explained } from './explain/explained.ts';
import { HoldingGrants } from './explain/holding-grants.tsx';
import { useVerdict } from './explain/use-verdict.ts';
import { VerdictActions } from './explain/verdict-actions.tsx';
import type { VerdictTarget } from './explain/verdicts.ts';
import { deviceOf, queryOf } from './explain/why-question.ts';
import type { KnownClient, QuestionFields } from './explain/why-question.ts';
import { SubmitForm } from '../../ui/controls/submit-form.tsx';
import { lookOf } from './log/status-look.ts';
import styles from './explain/explain.module.css';

const DEFAULTS = {
  name: '',
  type: 'A',
  client: '',
  client_id: '',
  group: '',
};
const TYPES = ['A', 'AAAA', 'HTTPS', 'CNAME', 'MX', 'NS', 'PTR', 'SRV', 'SVCB', 'TXT'];
const MAX_CLIENTS = 8;
const NONE: readonly KnownClient[] = [];

export default function WhyPage(): ReactNode {
  const { say } = useText();
  const [asked, setAsked] = useUrlState(DEFAULTS);
  const query = queryOf(asked);
  const explained = useAsk('GET /explain', { query: query ?? {} }, { enabled: query !== null });
  return (
    <Page title={say('page.why')} lead={say('why.lead')}>
      <Card>
        <QuestionForm
          key={JSON.stringify(asked)}
          asked={asked}
          onAsk={(next) => {
            setAsked(next);
            void explained.refetch();
          }}
          isPending={explained.isFetching}
        />
      </Card>
      {query !== null && (
        <Card>
          <Answered of={explained} lines={8}>
            {(answer) => <Answer of={answer} target={targetIn(answer, asked)} />}
          </Answered>
        </Card>
      )}
    </Page>
  );
}

interface QuestionFormProps {
  readonly asked: QuestionFields;
  readonly onAsk: (fields: QuestionFields) => void;
  readonly isPending: boolean;
}

function QuestionForm({ asked, onAsk, isPending }: QuestionFormProps): ReactNode {
  const { say } = useText();
  const [name, setName] = useState(asked.name);
  const [type, setType] = useState(asked.type);
  const [group, setGroup] = useState(asked.group);
  const [written, setWritten] = useState<string | null>(asked.client === '' ? null : asked.client);
  const groups = useGroups();
  const chosen = useAsk(
    'GET /clients/{id}',
    { params: { id: Number(asked.client_id) } },
    { enabled: asked.client_id !== '' },
  );
  const device = written ?? (asked.client_id === '' || chosen.data === undefined ? '' : nameOf(chosen.data));
  const search = device.trim();
  const found = useAsk(
    'GET /clients',
    { query: { search, limit: MAX_CLIENTS } },
    { enabled: written !== null && search !== '' },
  );
  const known = found.data?.data ?? NONE;
  const ask = (): void => {
    const by = written === null ? asked : deviceOf(written, known);
    onAsk({ name: name.trim(), type, client: by.client, client_id: by.client_id, group });
  };
  return (
    <SubmitForm onSubmit={() => ask()}>
      <div className={styles['question']}>
        <TextField label={say('why.name')} value={name} onChange={setName} inputMode="url" isCode />
        <SelectField
          label={say('queries.condition.type')}
          value={type}
          onChange={setType}
          choices={[...new Set([...TYPES, asked.type])].map((id) => ({ id, text: id }))}
        />
        <TextField
          label={say('field.client')}
          help={say('why.device.help')}
          value={device}
          onChange={setWritten}
          suggestions={known.map(suggestionOf)}
        />
        <SelectField
          label={say('queries.condition.group_id')}
          value={group}
          onChange={setGroup}
          choices={[
            { id: '', text: say('queries.stage.client_group') },
            ...groups.map(({ id, name: text }) => ({ id: `${id}`, text })),
          ]}
        />
        <div className={styles['ask']}>
          <Button
            kind="main"
            icon={CircleHelp}
            isDisabled={name.trim() === ''}
            isPending={isPending}
            onPress={ask}
          >
            {say('why.ask')}
          </Button>
        </div>
        <button type="submit" hidden />
      </div>
    </SubmitForm>
  );
}

interface AnswerProps {
  readonly of: Explained;
  readonly target: VerdictTarget;
}

function Answer({ of, target }: AnswerProps): ReactNode {
  const { say } = useText();
  const verdicts = useVerdict();
  const groups = useGroups();
  const { icon, tone } = lookOf(of.status);
  const group = groups.find(({ id }) => id === of.group_id)?.name ?? `${of.group_id}`;
  return (
    <Stack>
      <h2>
        <DomainName name={of.domain} /> <code>{of.type}</code>
      </h2>
      <p>
        <Badge tone={tone} icon={icon}>
          {say(`queries.status.${of.status}`)}
        </Badge>{' '}
        {say('why.for', { group })}
      </p>
      <ForAdmins>
        <div className={styles['actions']}>
          <VerdictActions target={target} group={group} verdicts={verdicts} />
        </div>
      </ForAdmins>
      <HoldingGrants target={target} verdicts={verdicts} />
      <Explanation of={of} />
    </Stack>
  );
}

/** Target of a decision about the answer. For a query without a device, the target is the group or everyone. */
function targetIn(answer: Explained, { client, client_id: clientId }: QuestionFields): VerdictTarget {
  const { domain, group_id: groupId, status } = answer;
  return {
    domain,
    client: client === '' ? null : client,
    clientId: clientId === '' ? null : Number(clientId),
    groupId,
    status,
  };
}

function suggestionOf(client: KnownClient): Suggestion {
  const { name, hostname, ip_address: ip, client_key: key, mac_address: mac } = client;
  return { text: ip ?? key ?? mac ?? '', meaning: name ?? hostname ?? undefined };
}
