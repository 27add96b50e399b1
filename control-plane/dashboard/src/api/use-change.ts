/** API changes for components. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { ApiFailure } from '../../../../shared/api/client/typed-client.ts';
import type { AnswerOf, CallOf, Given, OperationName } from '../../../../shared/api/client/typed-client.ts';
import type { MessageKey } from '../i18n/language.ts';
import { say } from '../i18n/say.ts';
import { send } from './ask.ts';
import { notify } from './notices.ts';
import type { Notice } from './notices.ts';
import { problemText } from './problem-text.ts';
import { refreshAll } from './store.ts';
import { notifyUndoable } from './undo.ts';

/** An operation that changes something. */
type Changing = Exclude<OperationName, `GET ${string}`>;

/** Messages and actions after a change. */
export interface ChangeOptions<Name extends Changing> {
  /** Message after the change. It has an Undo button if the change made a revision. */
  readonly done?: MessageKey;
  /** Replaces `done` if only the effect of a change shows that the change succeeded; resolves after the effect. */
  readonly outcome?: (answer: AnswerOf<Name>) => Promise<Notice>;
  readonly onDone?: (answer: AnswerOf<Name>) => void;
  /** Whether the form shows the error, so that no notice is needed. */
  readonly quiet?: boolean;
  /** Translates messages of the error before the notice shows them. */
  readonly translate?: (error: Error) => Error;
  /** Status of the response if the same change was already made by another user, and the page is out of date. */
  readonly already?: 404 | 409;
}

/** Changes that a component can make. */
export interface Changes<Name extends Changing> {
  /** Makes a change; resolves to true when it is active. */
  readonly run: <One extends Name>(name: One, call: CallOf<One>) => Promise<boolean>;
  readonly isPending: boolean;
  /** Error of the last change; null if it succeeded. */
  readonly failure: Error | null;
  readonly reset: () => void;
}

/** One change that a component can make. */
export interface Change<Name extends Changing> extends Omit<Changes<Name>, 'run'> {
  /** Makes the change; resolves to true when it is active. */
  readonly run: (call: CallOf<Name>) => Promise<boolean>;
}

/** Several operations with the same messages. After a change, all responses that may have changed are refreshed. */
export function useChanges<Name extends Changing>({
  done,
  outcome,
  onDone,
  quiet = false,
  translate = (error) => error,
  already,
}: ChangeOptions<Name> = {}): Changes<Name> {
  const store = useQueryClient();
  const mutation = useMutation({
    mutationFn: ({ name, call }: { readonly name: Name; readonly call: CallOf<Name> }) =>
      send(name, ...([call] as unknown as Given<Name>)),
    onSuccess: async ({ answer, headers }) => {
      const revision = Number(headers.get('Weir-Revision') ?? 0);
      if (done !== undefined) notifyUndoable({ tone: 'good', text: say(done) }, revision, store);
      onDone?.(answer);
      // Let components that `onDone` closes unmount first: the refresh would request their data, which may be deleted.
      await new Promise((resolve) => setTimeout(resolve));
      await refreshAll(store);
      if (outcome === undefined) return;
      void outcome(answer).then(async (notice) => {
        await refreshAll(store);
        notifyUndoable(notice, revision, store);
      });
    },
    onError: (error) => {
      if (error instanceof ApiFailure && error.status === already) {
        notify({ tone: 'good', text: say('changed.already') });
        void refreshAll(store);
      } else if (!quiet) notify({ tone: 'fault', text: problemText(translate(error)) });
    },
  });
  return {
    run: (name, call) =>
      mutation.mutateAsync({ name, call }).then(
        () => true,
        () => false,
      ),
    isPending: mutation.isPending,
    failure: mutation.error,
    reset: mutation.reset,
  };
}

/** A single operation that changes something. */
export function useChange<Name extends Changing>(
  name: Name,
  options: ChangeOptions<Name> = {},
): Change<Name> {
  const { run, ...rest } = useChanges<Name>(options);
  return { ...rest, run: (call) => run(name, call) };
}
