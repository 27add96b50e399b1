/** A folder with builds of a small sample dashboard, in the form of real builds. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { BuildManifest } from '../../../control-plane/web/built-dashboard/build-manifest.ts';
import { openBuild } from '../../../control-plane/web/built-dashboard/open-build.ts';
import type { Build } from '../../../control-plane/web/built-dashboard/open-build.ts';
import { freshFolderName, sealBuild } from '../../../control-plane/dashboard/build/seal-build.ts';

/** Sources of a build, for tests whose result does not depend on the sources. */
export const SOME_SOURCES: BuildManifest['sources'] = { hash: 'a'.repeat(64), shared: [] };

/** Files of a small dashboard; `mark` distinguishes two dashboards. */
export function someFiles(mark = 'one'): Record<string, string> {
  return {
    'index.html': `<!doctype html><title>${mark}</title>${'<p>A page that is long enough to compress.</p>'.repeat(9)}`,
    'assets/main-abc123.js': `/* ${mark} */ ${'globalThis.count += 1;\n'.repeat(50)}`,
    'mark.svg': '<svg xmlns="http://www.w3.org/2000/svg"/>',
    'assets/login-abc123.js': 'globalThis.login = true;',
    'assets/style-abc123.css': 'p { margin: 0; }',
    '.vite/manifest.json': JSON.stringify({
      'src/pages/queries/queries-page.tsx': { file: 'assets/main-abc123.js', imports: ['_style'] },
      _style: { file: 'assets/style-abc123.css' },
      'src/frame/login/login-page.tsx': { file: 'assets/login-abc123.js' },
    }),
  };
}

/** The folder, which is deleted at the end of the scope. */
export class MadeDist {
  readonly path: string;

  private constructor(path: string) {
    this.path = path;
  }

  /** Creates an empty folder. */
  static async make(): Promise<MadeDist> {
    return new MadeDist(await mkdtemp(join(tmpdir(), 'weir-dist-')));
  }

  /** Installs a build of these files, and returns its manifest. */
  async build(files = someFiles(), sources = SOME_SOURCES): Promise<BuildManifest> {
    const folder = freshFolderName();
    for (const [path, text] of Object.entries(files)) {
      await mkdir(dirname(join(this.path, folder, path)), { recursive: true });
      await writeFile(join(this.path, folder, path), text);
    }
    return sealBuild(this.path, folder, sources);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.path, { recursive: true, force: true });
  }
}

/** A build of these files in memory. */
export async function madeBuild(files = someFiles()): Promise<Build> {
  await using dist = await MadeDist.make();
  await dist.build(files);
  return (await openBuild(dist.path))!;
}
