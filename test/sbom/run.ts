/**
 * `npm run check -- sbom`: writes what the package is made of to `sbom.cdx.json` (CycloneDX), which is not committed, and checks that it is a list of that form
 * with every package of package-lock.json. The last line is `N passed, M failed`.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';

interface Component {
  readonly name?: string;
  readonly version?: string;
  readonly purl?: string;
  readonly type?: string;
  readonly 'bom-ref'?: string;
}

interface Bom {
  readonly bomFormat?: string;
  readonly specVersion?: string;
  readonly serialNumber?: string;
  readonly metadata?: { readonly component?: Component };
  readonly components?: readonly Component[];
  readonly dependencies?: readonly { readonly ref?: string; readonly dependsOn?: readonly string[] }[];
}

interface Lock {
  readonly version: string;
  readonly packages: { readonly [path: string]: { readonly version?: string; readonly link?: boolean } };
}

const root = fileURLToPath(new URL('../..', import.meta.url));
const text = execFileSync('npm', ['sbom', '--package-lock-only', '--sbom-format=cyclonedx'], {
  cwd: root,
  encoding: 'utf8',
  maxBuffer: 64 * 1024 ** 2,
  stdio: ['ignore', 'pipe', 'inherit'],
});
const bom = JSON.parse(text) as Bom;
const lock = JSON.parse(readFileSync(`${root}/package-lock.json`, 'utf8')) as Lock;

const components = bom.components ?? [];
// npm names a component as it is installed; for an alias the package URL has the package's own name.
const listed = new Set(components.map(({ name, version }) => `${name}@${version}`));
const wanted = Object.entries(lock.packages)
  .filter(([path, { link }]) => path !== '' && link !== true)
  .map(
    ([path, { version }]) =>
      `${path.includes('node_modules/') ? path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length) : basename(path)}@${version}`,
  );
const refs = new Set([bom.metadata?.component, ...components].map((one) => one?.['bom-ref']));
const dangling = (bom.dependencies ?? []).flatMap(({ ref, dependsOn = [] }) => [ref, ...dependsOn]).filter((ref) => !refs.has(ref));

const checks: readonly (readonly [name: string, faults: readonly unknown[]])[] = [
  [
    'it is a CycloneDX list of version 1.x',
    bom.bomFormat === 'CycloneDX' && /^1\.\d+$/.test(bom.specVersion ?? '') && /^urn:uuid:[0-9a-f-]{36}$/.test(bom.serialNumber ?? '')
      ? []
      : [bom.bomFormat, bom.specVersion, bom.serialNumber],
  ],
  ['it is about this package', bom.metadata?.component?.purl === `pkg:npm/tracejury@${lock.version}` ? [] : [bom.metadata?.component]],
  [
    'every package of package-lock.json is in it',
    wanted.length === 0 ? ['package-lock.json names no package'] : wanted.filter((one) => !listed.has(one)),
  ],
  ['nothing else is in it', [...listed].filter((one) => !wanted.includes(one))],
  [
    'each component has a package URL with its version',
    components.filter(({ purl, version }) => purl?.startsWith('pkg:npm/') !== true || !purl.includes(`@${version}`)),
  ],
  ['dependencies lead to components', dangling],
];

let failed = 0;
for (const [name, faults] of checks) {
  if (faults.length > 0) failed++;
  process.stdout.write(
    `${faults.length === 0 ? 'ok    ' : 'FAILED'}  ${name}${faults.length === 0 ? '' : `: ${JSON.stringify(faults.slice(0, 5))}`}\n`,
  );
}
writeFileSync(`${root}/sbom.cdx.json`, text);
process.stdout.write(`${components.length} components in sbom.cdx.json\n${checks.length - failed} passed, ${failed} failed\n`);
process.exitCode = failed === 0 ? 0 : 1;
