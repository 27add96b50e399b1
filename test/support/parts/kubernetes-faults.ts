/** Checks manifests against the types of the Kubernetes API, to find unknown fields, wrong types and missing fields. */
import { join } from 'node:path';
import ts from 'typescript';

/** Fields of every manifest. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
}

const ROOT = join(import.meta.dirname, '..', '..', '..');
/** Path of a source file that exists only in memory. Its directory determines where packages are found. */
const CHECKED = join(ROOT, 'checked-manifests.ts');
const OPTIONS: ts.CompilerOptions = {
  lib: ['lib.es5.d.ts'],
  module: ts.ModuleKind.ESNext,
  moduleResolution: ts.ModuleResolutionKind.Bundler,
  noEmit: true,
  strict: true,
  types: [],
};

/** Faults as messages of the compiler. JSON is a valid TypeScript literal, so the compiler checks each field. */
export function kubernetesFaults(...manifests: readonly Manifest[]): string[] {
  const text = manifests
    .map((manifest, i) => `export const manifest${i}: ${typeOf(manifest)} = ${JSON.stringify(manifest)};`)
    .join('\n');
  const host = ts.createCompilerHost(OPTIONS);
  const getSourceFile = host.getSourceFile.bind(host);
  host.getSourceFile = (file, ...rest) =>
    file === CHECKED ? ts.createSourceFile(file, text, ts.ScriptTarget.ESNext) : getSourceFile(file, ...rest);
  const program = ts.createProgram([CHECKED], OPTIONS, host);
  const checked = program.getSourceFile(CHECKED);
  return [...program.getSyntacticDiagnostics(checked), ...program.getSemanticDiagnostics(checked)].map(
    ({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'),
  );
}

/** Type of a manifest. The version `v1` belongs to the core group; `apps/v1` is a group and a version. */
function typeOf({ apiVersion, kind }: Manifest): string {
  const path = apiVersion.includes('/') ? apiVersion : `core/${apiVersion}`;
  return `import('kubernetes-types/${path}').${kind}`;
}
