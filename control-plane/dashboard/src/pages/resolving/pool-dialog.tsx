/** Makes, changes or deletes a pool of upstream servers. */
import type { ReactNode } from 'react';
import { useChange } from '../../api/use-change.ts';
import { useText } from '../../i18n/text.ts';
import { Button } from '../../ui/controls/button.tsx';
import { SelectField, TextField } from '../../ui/controls/fields.tsx';
import { Dialog } from '../../ui/overlays/dialog.tsx';
import { poolProblem, serversOf, STRATEGIES } from './pools.ts';
import { FormFault } from '../../ui/display/states.tsx';
import { useFields } from '../../api/use-fields.ts';
import type { Pool } from './pools.ts';

interface PoolDialogProps {
  readonly pools: readonly Pool[];
  /** Of the pool to change; behind the last one for a new one. */
  readonly place: number;
  readonly onClose: () => void;
}

/** The dialog; the configuration takes all pools at once. */
export function PoolDialog({ pools, place, onClose }: PoolDialogProps): ReactNode {
  const { say } = useText();
  const old = pools[place];
  const start = {
    name: old?.name ?? '',
    servers: old?.servers.join('\n') ?? '',
    strategy: old?.strategy ?? ('default' as const),
    priority: String(old?.priority ?? 1),
  };
  const { fields, bind } = useFields(start, null);
  const save = useChange('PATCH /config', { done: 'resolving.pool.saved', quiet: true, onDone: onClose });
  const remove = useChange('PATCH /config', { done: 'resolving.pool.deleted', quiet: true, onDone: onClose });
  const failure = save.failure ?? remove.failure;
  const problem = (part: keyof Pool): string | null => poolProblem(save.failure, place, part);
  const isAtField = (['name', 'servers', 'strategy', 'priority'] as const).some(
    (part) => problem(part) !== null,
  );
  const { name, servers, strategy, priority } = fields;
  const pool = (): Pool => ({
    name: name.trim(),
    priority: Number(priority),
    servers: serversOf(servers),
    ...(strategy !== 'default' && { strategy }),
  });
  return (
    <Dialog
      title={say(old === undefined ? 'resolving.pool.add' : 'resolving.pool.edit')}
      isOpen
      onClose={onClose}
      actions={
        <>
          {old !== undefined && pools.length > 1 && (
            <Button
              kind="danger"
              isPending={remove.isPending}
              onPress={() => void remove.run({ body: { dns: { pools: pools.toSpliced(place, 1) } } })}
            >
              {say('action.delete')}
            </Button>
          )}
          <Button
            kind="main"
            isPending={save.isPending}
            onPress={() => void save.run({ body: { dns: { pools: pools.toSpliced(place, 1, pool()) } } })}
          >
            {say('action.save')}
          </Button>
        </>
      }
    >
      {!isAtField && <FormFault failure={failure} />}
      <TextField label={say('field.name')} {...bind('name')} error={problem('name')} />
      <TextField
        label={say('resolving.pool.servers')}
        help={say('resolving.pool.servers.help')}
        {...bind('servers')}
        rows={4}
        isCode
        error={problem('servers')}
      />
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
    </Dialog>
  );
}
