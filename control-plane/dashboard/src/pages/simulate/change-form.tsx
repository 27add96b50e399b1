/** Form that adds a change to the draft: its kind, then its values. */
import { Plus } from 'lucide-react';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { useAsk } from '../../api/use-ask.ts';
import { useText } from '../../i18n/text.ts';
import { Button } from '../../ui/controls/button.tsx';
import { SelectField, TextField } from '../../ui/controls/fields.tsx';
import { Segments } from '../../ui/controls/segments.tsx';
import { Stack } from '../../ui/display/page.tsx';
import { GroupField, useGroups } from '../../ui/policy/groups.tsx';
import { CHANGE_KINDS } from './draft.ts';
import type { ChangeKind, DraftChange } from './draft.ts';

interface ChangeFormProps {
  readonly onAdd: (change: DraftChange) => void;
}

export function ChangeForm({ onAdd }: ChangeFormProps): ReactNode {
  const { say } = useText();
  const [kind, setKind] = useState<ChangeKind>('turnOn');
  return (
    <Stack>
      <SelectField
        label={say('field.change')}
        value={kind}
        onChange={setKind}
        choices={CHANGE_KINDS.map((id) => ({ id, text: say(`simulate.kind.${id}`) }))}
      />
      {(kind === 'turnOn' || kind === 'turnOff') && <ListChange key={kind} kind={kind} onAdd={onAdd} />}
      {kind === 'url' && <UrlChange onAdd={onAdd} />}
      {kind === 'domain' && <DomainChange onAdd={onAdd} />}
      {(kind === 'block' || kind === 'unblock') && <ServiceChange key={kind} kind={kind} onAdd={onAdd} />}
      {kind === 'client' && <ClientChange onAdd={onAdd} />}
    </Stack>
  );
}

interface AddProps {
  /** The change; null while the form is incomplete. */
  readonly change: DraftChange | null;
  readonly onAdd: (change: DraftChange) => void;
}

function Add({ change, onAdd }: AddProps): ReactNode {
  const { say } = useText();
  return (
    <div>
      <Button icon={Plus} isDisabled={change === null} onPress={() => change !== null && onAdd(change)}>
        {say('simulate.add')}
      </Button>
    </div>
  );
}

function ListChange({ kind, onAdd }: ChangeFormProps & { readonly kind: 'turnOn' | 'turnOff' }): ReactNode {
  const { say } = useText();
  const [chosen, setChosen] = useState('');
  const { data: block = [] } = useAsk('GET /blocklist-sources', {});
  const { data: allow = [] } = useAsk('GET /allowlist-sources', {});
  const lists = [
    ...block.map((list) => ({ ...list, of: 'block' as const })),
    ...allow.map((list) => ({ ...list, of: 'allow' as const })),
  ].filter(({ enabled, status }) => (kind === 'turnOff' ? enabled : !enabled || status === 'held'));
  const list = lists.find(({ id }) => `${id}` === chosen);
  return (
    <>
      <SelectField
        label={say('simulate.list')}
        help={lists.length === 0 ? say('simulate.noList') : undefined}
        value={chosen}
        onChange={setChosen}
        choices={lists.map(({ id, name }) => ({ id: `${id}`, text: name }))}
      />
      <Add
        change={
          list === undefined
            ? null
            : { kind, id: list.id, of: list.of, name: list.name, isHeld: list.enabled }
        }
        onAdd={onAdd}
      />
    </>
  );
}

function UrlChange({ onAdd }: ChangeFormProps): ReactNode {
  const { say } = useText();
  const [url, setUrl] = useState('');
  const [of, setOf] = useState<'block' | 'allow'>('block');
  return (
    <>
      <TextField label={say('simulate.url')} value={url} onChange={setUrl} inputMode="url" isCode />
      <Segments
        label={say('field.action')}
        value={of}
        onChange={setOf}
        choices={[
          { id: 'block', text: say('simulate.blocks') },
          { id: 'allow', text: say('simulate.allows') },
        ]}
      />
      <Add change={URL.canParse(url.trim()) ? { kind: 'url', url: url.trim(), of } : null} onAdd={onAdd} />
    </>
  );
}

function DomainChange({ onAdd }: ChangeFormProps): ReactNode {
  const { say } = useText();
  const [domain, setDomain] = useState('');
  const [action, setAction] = useState<'deny' | 'allow'>('deny');
  const [groupId, setGroupId] = useState<number | null>(null);
  const isReady = domain.trim() !== '';
  return (
    <>
      <TextField
        label={say('field.name')}
        help={say('rules.domain.help')}
        value={domain}
        onChange={setDomain}
        isCode
      />
      <Segments
        label={say('field.action')}
        value={action}
        onChange={setAction}
        choices={[
          { id: 'deny', text: say('simulate.blocks') },
          { id: 'allow', text: say('simulate.allows') },
        ]}
      />
      <GroupField label={say('field.for')} value={groupId} onChange={setGroupId} />
      <Add
        change={isReady ? { kind: 'domain', domain: domain.trim(), action, groupId } : null}
        onAdd={onAdd}
      />
    </>
  );
}

function ServiceChange({ kind, onAdd }: ChangeFormProps & { readonly kind: 'block' | 'unblock' }): ReactNode {
  const { say } = useText();
  const [chosen, setChosen] = useState('');
  const [group, setGroup] = useState('');
  const groups = useGroups();
  const { data: services = [] } = useAsk('GET /services/catalog', {});
  const service = services.find(({ id }) => id === chosen);
  const isReady = service !== undefined && group !== '';
  return (
    <>
      <SelectField
        label={say('field.service')}
        value={chosen}
        onChange={setChosen}
        choices={services.map(({ id, name }) => ({ id, text: name }))}
      />
      <SelectField
        label={say('field.for')}
        value={group}
        onChange={setGroup}
        choices={groups.map(({ id, name }) => ({ id: `${id}`, text: name }))}
      />
      <Add
        change={isReady ? { kind, serviceId: service.id, name: service.name, groupId: Number(group) } : null}
        onAdd={onAdd}
      />
    </>
  );
}

function ClientChange({ onAdd }: ChangeFormProps): ReactNode {
  const { say } = useText();
  const [address, setAddress] = useState('');
  const [group, setGroup] = useState('');
  const groups = useGroups();
  const isReady = address.trim() !== '' && group !== '';
  return (
    <>
      <TextField
        label={say('simulate.client')}
        help={say('simulate.client.help')}
        value={address}
        onChange={setAddress}
        isCode
      />
      <SelectField
        label={say('field.group')}
        value={group}
        onChange={setGroup}
        choices={groups.map(({ id, name }) => ({ id: `${id}`, text: name }))}
      />
      <Add
        change={isReady ? { kind: 'client', address: address.trim(), groupId: Number(group) } : null}
        onAdd={onAdd}
      />
    </>
  );
}
