/**
 * Form with everything about one child or other person: devices, services, times and holidays. One request saves all of
 * it.
 */
import { useState } from 'react';
import type { ReactNode } from 'react';
import type { AnswerOf } from '../../../../../../shared/api/client/typed-client.ts';
import { fieldProblem } from '../../../api/problem-text.ts';
import { useAsk } from '../../../api/use-ask.ts';
import { useChanges } from '../../../api/use-change.ts';
import { useText } from '../../../i18n/text.ts';
import { SelectField, TextField } from '../../../ui/controls/fields.tsx';
import { Answered, FormFault } from '../../../ui/display/states.tsx';
import { Dialog } from '../../../ui/overlays/dialog.tsx';
import { FormDialog } from '../../../ui/overlays/form-dialog.tsx';
import { useGroups } from '../../../ui/policy/groups.tsx';
import { nameOf } from '../../../ui/policy/client-name.ts';
import { Holidays } from '../../../ui/choices/holidays.tsx';
import { PlanDevices } from './plan-devices.tsx';
import { allDaysOff, bodyOf, draftOf, isReady, nameAfter, newDraft, withService } from './plan-draft.ts';
import type { PlanDraft } from './plan-draft.ts';
import { PlanServices } from './plan-services.tsx';
import { PlanTimes } from './plan-times.tsx';

interface PlanDialogProps {
  /** Id of the group; null for a new group, or for a group that the user chooses in the form. */
  readonly groupId: number | null;
  readonly onClose: () => void;
}

type Client = AnswerOf<'GET /clients'>['data'][number];

const MAX_CLIENTS = 1_000;

/** Loads the initial values, then shows the form. */
export function PlanDialog({ groupId, onClose }: PlanDialogProps): ReactNode {
  const { say } = useText();
  const [chosen, setChosen] = useState(groupId);
  const plan = useAsk('GET /group-plans/{id}', { params: { id: chosen ?? 0 } }, { enabled: chosen !== null });
  const profiles = useAsk('GET /schedule-profiles', {});
  const clients = useAsk('GET /clients', { query: { limit: MAX_CLIENTS } });
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  const start =
    chosen === null
      ? profiles.data && newDraft(timeZone, allDaysOff(profiles.data))
      : plan.data && draftOf(plan.data, timeZone);
  if (start === undefined || clients.data === undefined)
    return (
      <Dialog title={say('plan.title')} isOpen onClose={onClose}>
        <Answered of={chosen !== null && plan.data === undefined ? plan : clients} lines={8}>
          {() => null}
        </Answered>
      </Dialog>
    );
  return (
    <PlanForm
      key={chosen ?? 'new'}
      groupId={chosen}
      start={start}
      clients={clients.data.data}
      onGroup={groupId === null ? setChosen : undefined}
      onClose={onClose}
    />
  );
}

interface PlanFormProps {
  /** Id of the group; null for a new group. */
  readonly groupId: number | null;
  readonly start: PlanDraft;
  readonly clients: readonly Client[];
  /** Called when the user chooses another group; undefined if the group is fixed. */
  readonly onGroup: ((id: number | null) => void) | undefined;
  readonly onClose: () => void;
}

function PlanForm({ groupId, start, clients, onGroup, onClose }: PlanFormProps): ReactNode {
  const { say } = useText();
  const groups = useGroups();
  const [draft, setDraft] = useState(start);
  const set = (changed: Partial<PlanDraft>): void => setDraft((before) => ({ ...before, ...changed }));
  const { run, isPending, failure } = useChanges({ done: 'plan.saved', quiet: true, onDone: onClose });
  const body = bodyOf(draft);
  const hasSkipping = [...draft.service_times, ...draft.offline_times].some((time) => time.skips_days_off);

  function chooseDevices(ids: readonly number[]): void {
    const first = clients.find(({ id }) => id === ids[0]);
    const taken = groups.map(({ name }) => name);
    const name = first === undefined ? '' : nameAfter(nameOf(first), taken);
    set({ client_ids: [...ids], ...(!draft.isNamed && { name }) });
  }

  return (
    <FormDialog
      title={groupId === null ? say('plan.title') : say('plan.titleOf', { name: start.name })}
      isReady={isReady(draft)}
      isPending={isPending}
      onSave={() =>
        void (groupId === null
          ? run('POST /group-plans', { body })
          : run('PUT /group-plans/{id}', { params: { id: groupId }, body }))
      }
      onClose={onClose}
    >
      {onGroup !== undefined && groups.length > 1 && (
        <SelectField
          label={say('field.for')}
          value={groupId === null ? '' : `${groupId}`}
          onChange={(id) => onGroup(id === '' ? null : Number(id))}
          choices={[
            { id: '', text: say('plan.for.new') },
            ...groups
              .filter(({ is_default: isDefault }) => !isDefault)
              .map(({ id, name }) => ({ id: `${id}`, text: name })),
          ]}
        />
      )}
      <PlanDevices groupId={groupId} clients={clients} chosen={draft.client_ids} onChange={chooseDevices} />
      <PlanServices
        services={draft.services}
        hasTimes={draft.service_times.length > 0}
        onToggle={(id, isChosen) => set({ services: withService(draft.services, id, isChosen) })}
        onChange={(services) => set({ services: [...services] })}
      />
      <PlanTimes
        label={say('plan.serviceTimes')}
        help={say(draft.service_times.length === 0 ? 'plan.serviceTimes.always' : 'plan.serviceTimes.help')}
        times={draft.service_times}
        onChange={(times) => set({ service_times: [...times] })}
      />
      <PlanTimes
        label={say('schedules.action.block')}
        help={say('plan.offlineTimes.help')}
        times={draft.offline_times}
        onChange={(times) => set({ offline_times: [...times] })}
      />
      {hasSkipping && <Holidays ranges={draft.days_off} onChange={(off) => set({ days_off: [...off] })} />}
      <TextField
        label={say('field.name')}
        help={say('plan.name.help')}
        error={fieldProblem(failure, 'name')}
        value={draft.name}
        onChange={(name) => set({ name, isNamed: true })}
      />
      <p className="quiet">{say('schedules.zoneIs', { zone: draft.timezone })}</p>
      <FormFault failure={failure} fields={['name']} />
    </FormDialog>
  );
}
