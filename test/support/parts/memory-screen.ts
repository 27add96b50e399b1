/** A terminal that stores its lines, for tests of commands. */
import type { Screen } from '../../../control-plane/cli/output/screen.ts';

/** Terminal that stores its lines. */
export interface MemoryScreen extends Screen {
  readonly lines: string[];
  readonly errors: string[];
}

/** A screen that is a pipe by default; `options` overrides its properties. */
export function memoryScreen(options: Partial<Pick<Screen, 'columns' | 'hasColour'>> = {}): MemoryScreen {
  const lines: string[] = [];
  const errors: string[] = [];
  return {
    lines,
    errors,
    columns: null,
    hasColour: false,
    out: (line) => void lines.push(line),
    err: (line) => void errors.push(line),
    progress: () => undefined,
    ...options,
  };
}
