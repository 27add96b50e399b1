/**
 * Adds, edits or deletes an upstream pool. Servers of a known resolver are tested when the user selects the resolver;
 * servers that the user enters can be tested before saving.
 */
import { Activity } from 'lucide-react';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { ApiFailure } from '../../../../../shared/api/client/typed-client.ts';
import { send } from '../../api/ask.ts';
import { faultText } from '../../api/faults/fault-texts.ts';
import { useChange } from '../../api/use-change.ts';
import { useQuestion } from '../../api/use-question.ts';
import { useText } from '../../i18n/text.ts';
import { Button } from '../../ui/controls/button.tsx';
import { SelectField, TextField } from '../../ui/controls/fields.tsx';
import { ChangedElsewhere, isSame } from '../../ui/overlays/changed-elsewhere.tsx';
import { Confirm } from '../../ui/overlays/confirm.tsx';
import { Dialog } from '../../ui/overlays/dialog.tsx';
import { KnownChoice } from './known-choice.tsx';
import { askedBefore, placeOf, poolProblem, serversOf, STRATEGIES, wordsOf } from './pools.ts';
import { Callout, FormFault } from '../../ui/display/states.tsx';
import { ServerTest } from './server-test.tsx';
import { useFields } from '../../api/use-fields.ts';
import type { Pool } from './pools.ts';

interface PoolDialogProps {
  readonly pools: readonly Pool[];
  /** Index of the pool to edit; for a new pool, the number of pools. */
  readonly place: number;
  readonly onClose: () => void;
}

/** Saving sends all pools, because the configuration has them in one key. */
export function PoolDialog({ pools, place, onClose }: PoolDialogProps): ReactNode {
  const { say, format } = useText();
  // The pools as this user last saw them; `pools` changes when the server's pools change.
  const [known, setKnown] = useState(pools);
  const [old] = useState(pools[place]);
  const start = {
    name: old?.name ?? '',
    servers: old?.servers.join('\n') ?? '',
    strategy: old?.strategy ?? ('default' as const),
    priority: String(old?.priority ?? 1),
  };
  const { fields, set, bind } = useFields(start, null);
  const [chosenName, setChosenName] = useState('');
  const [isAsking, setAsking] = useState(false);
  const save = useChange('PATCH /config', { done: 'resolving.pool.saved', quiet: true, onDone: onClose });
  const remove = useChange('PATCH /config', { done: 'resolving.pool.deleted', quiet: true, onDone: onClose });
  const trial = useQuestion('POST /upstreams/test');
  const isSilent = isSilentPool(save.failure);
  const failure = (isSilent ? null : save.failure) ?? remove.failure;
  const problem = (part: keyof Pool): string | null => {
    const message = isSilent ? null : poolProblem(save.failure, place, part);
    return message === null ? null : faultText(message);
  };
  const isAtField = (['name', 'servers', 'strategy', 'priority'] as const).some(
    (part) => problem(part) !== null,
  );
  const { name, servers: text, strategy, priority } = fields;
  const servers = serversOf(text);
  const pool = (): Pool => ({
    name: name.trim(),
    priority: Number(priority),
    servers,
    ...(strategy !== 'default' && { strategy }),
  });
  const test = (tested: readonly string[]): void =>
    trial.run({ body: { servers: tested.slice(0, MAX_TESTED) } });
  const first = askedBefore(Number(priority), placeOf(old, known), known);
  const [newer, setNewer] = useState<Newer | null>(null);
  const withPool = (all: readonly Pool[]): Pool[] => all.toSpliced(placeOf(old, all), 1, pool());
  const withoutPool = (all: readonly Pool[]): Pool[] => all.filter((one) => one.name !== old?.name);
  // One configuration key contains all pools, so pools that another user has added must be kept.
  const read = async (base: readonly Pool[], isDeletion: boolean): Promise<Current | null> => {
    const now = await send('GET /config', {}).catch(() => null);
    const current = (now?.answer.dns['pools'] ?? base) as readonly Pool[];
    if (!isSame(current, base)) {
      setNewer({ pools: current, isDeletion });
      return null;
    }
    const etag = now?.headers.get('ETag') ?? null;
    return { pools: current, guard: etag === null ? {} : { headers: { 'If-Match': etag } } };
  };
  const store = async (force: boolean, base = known): Promise<void> => {
    const current = await read(base, false);
    if (current === null) return;
    const body = { dns: { pools: withPool(current.pools) } };
    if (await save.run({ query: { force }, body, ...current.guard })) return;
    if (!force) test(servers);
    setAsking(!force);
  };
  const deletePool = async (base = known): Promise<void> => {
    const current = await read(base, true);
    if (current === null) return;
    await remove.run({ query: {}, body: { dns: { pools: withoutPool(current.pools) } }, ...current.guard });
  };
  return (
    <Dialog
      title={say(old === undefined ? 'resolving.pool.add' : 'resolving.pool.edit')}
      isOpen
      onClose={onClose}
      actions={
        <>
          {old !== undefined && pools.length > 1 && (
            <Button kind="danger" isPending={remove.isPending} onPress={() => void deletePool()}>
              {say('action.delete')}
            </Button>
          )}
          <Button
            icon={Activity}
            isDisabled={servers.length === 0}
            isPending={trial.state === 'running'}
            onPress={() => test(servers)}
          >
            {say('resolving.test')}
          </Button>
          <Button kind="main" isPending={save.isPending} onPress={() => void store(false)}>
            {say('action.save')}
          </Button>
        </>
      }
    >
      {!isAtField && <FormFault failure={failure} />}
      {newer !== null && (
        <ChangedElsewhere
          fields={[
            {
              label: say('page.resolving'),
              mine: format.list((newer.isDeletion ? withoutPool : withPool)(known).map(wordsOf)),
              now: format.list(newer.pools.map(wordsOf)),
            },
          ]}
          isPending={save.isPending || remove.isPending}
          onUse={onClose}
          onKeep={() => {
            setNewer(null);
            setKnown(newer.pools);
            void (newer.isDeletion ? deletePool(newer.pools) : store(false, newer.pools));
          }}
        />
      )}
      {first !== null && <Callout tone="info">{say('resolving.pool.after', { name: first })}</Callout>}
      <KnownChoice
        servers={servers}
        onChoose={(known, chosen) => {
          const isOwnName = name.trim() !== '' && name !== chosenName;
          set({ servers: chosen.join('\n'), ...(!isOwnName && { name: known }) });
          setChosenName(known);
          if (chosen.length === 0) trial.cancel();
          else test(chosen);
        }}
      />
      {chosenName !== '' && <ServerTest of={trial} />}
      <TextField label={say('field.name')} {...bind('name')} error={problem('name')} />
      <TextField
        label={say('resolving.pool.servers')}
        help={say('resolving.pool.servers.help')}
        {...bind('servers')}
        rows={4}
        isCode
        error={problem('servers')}
      />
      {chosenName === '' && <ServerTest of={trial} />}
      <SelectField
        label={say('resolving.strategy')}
        {...bind('strategy')}
        error={problem('strategy')}
        choices={[
          { id: 'default' as const, text: say('resolving.strategy.default') },
          ...STRATEGIES.map((id) => ({
            id,
            text: say(`resolving.strategy.${id}`),
            help: say(`resolving.strategy.${id}.help`),
          })),
        ]}
      />
      <TextField
        label={say('resolving.pool.priority')}
        help={say('resolving.pool.priority.help')}
        type="number"
        inputMode="numeric"
        {...bind('priority')}
        error={problem('priority')}
      />
      {isAsking && isSilent && (
        <Confirm
          title={say('resolving.silent.ask')}
          action={say('resolving.silent.save')}
          isPending={save.isPending}
          onClose={() => setAsking(false)}
          onConfirm={() => void store(true)}
        >
          <p>{say('resolving.silent.text')}</p>
        </Confirm>
      )}
    </Dialog>
  );
}

/** Pools that another user has changed since this user last saw them. */
interface Newer {
  readonly pools: readonly Pool[];
  /** Whether this user deletes the pool. */
  readonly isDeletion: boolean;
}

/** The current pools, and header fields that make the server reject a change if these pools are no longer current. */
interface Current {
  readonly pools: readonly Pool[];
  readonly guard: { readonly headers?: Readonly<Record<string, string>> };
}

/** Maximum number of servers in one test, as in the API. */
const MAX_TESTED = 16;

/** Whether the server refused the pool because none of its servers answers. */
function isSilentPool(failure: Error | null): boolean {
  return failure instanceof ApiFailure && failure.problem?.error === 'upstream_silent';
}
