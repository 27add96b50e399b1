/** Views whose code is loaded when they are first shown, or ahead of that. */
import { createElement, lazy, useState } from 'react';
import type { ComponentType, ReactNode } from 'react';

/** Exports of the module of a view. */
interface ViewFile<Props> {
  readonly default: ComponentType<Props>;
}

/** A component that may be loaded before it is shown. */
export interface LaterView<Props = object> {
  (props: Props): ReactNode;
  /** Rejects if the code is gone, for example after an upgrade; showing the view tries again. */
  readonly load: () => Promise<unknown>;
}

/**
 * A view of a file. One that is loaded already is drawn at once: React leaves a placeholder that it has shown in its place
 * for 300 ms.
 */
export function later<Props extends object>(file: () => Promise<ViewFile<Props>>): LaterView<Props> {
  let loaded: ComponentType<Props> | null = null;
  const load = async (): Promise<ViewFile<Props>> => {
    const read = await file();
    loaded = read.default;
    return read;
  };
  const Later: ComponentType<Props> = lazy(load);
  const View = (props: Props): ReactNode => {
    // The one or the other for as long as it is shown, so that nothing in it is lost.
    const [Shown] = useState(() => loaded ?? Later);
    return createElement(Shown, props);
  };
  return Object.assign(View, { load });
}
