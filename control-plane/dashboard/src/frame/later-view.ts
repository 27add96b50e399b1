/** Views whose code is loaded when they are first shown, or before. */
import { createElement, lazy, useState } from 'react';
import type { ComponentType, ReactNode } from 'react';

/** Exports of the module of a view. */
interface ViewFile<Props> {
  readonly default: ComponentType<Props>;
}

/** A component that may be loaded before it is shown. */
export interface LaterView<Props = object> {
  (props: Props): ReactNode;
  /** Rejects if the code no longer exists, for example after an upgrade. Showing the view tries again. */
  readonly load: () => Promise<unknown>;
}

/**
 * A view whose code is in its own file. If the code is already loaded, the view is rendered without a placeholder,
 * which React would keep for 300 ms.
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
    // The component must not change while the view is shown, or its state would be lost.
    const [Shown] = useState(() => loaded ?? Later);
    return createElement(Shown, props);
  };
  return Object.assign(View, { load });
}
