/** Pages install packages of OpenTelemetry in versions that fit together: those that this package is tested with. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const top = join(import.meta.dirname, '../..');
const { dependencies } = JSON.parse(readFileSync(join(top, 'package.json'), 'utf8')) as {
  readonly dependencies: { readonly [name: string]: string };
};
/** Packages of one release have one version; its web and Node tracers are released with the base. */
const releasedWith: { readonly [name: string]: string } = { '@opentelemetry/sdk-trace-node': '@opentelemetry/sdk-trace-base' };
const installed = globSync('{README.md,docs/**/*.md,examples/**/*.md}', { cwd: top }).flatMap((file) =>
  [...readFileSync(join(top, file), 'utf8').matchAll(/^ {4}npm install .*@opentelemetry.*$/gm)].map(([line]) => ({ file, line })),
);

test('versions: pages install packages of OpenTelemetry', () => {
  expect(installed.length).toBeGreaterThan(1);
});

test.each(installed)('versions: $file installs those that this package is tested with', ({ line }) => {
  const named = [...line.matchAll(/(@opentelemetry\/[\w-]+)(?:@(\S+))?/g)].map(([, name = '', version]) => [name, version]);
  const tested = named.map(([name = '']) => [name, dependencies[releasedWith[name] ?? name]?.split('.').slice(0, 2).join('.')]);
  expect(named).toEqual(tested);
});
