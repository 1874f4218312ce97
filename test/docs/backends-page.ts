/** `docs/reference/backends.md`, from what each backend with scores of its own says of itself. */
import { natives } from '../../src/exporters/index.ts';
import { nativeKeyNames, type NativeBackend, type NativeKey } from '../../src/exporters/scores/score-api-backend.ts';

export function backendsPage(): string {
  return `${[opening, places(natives), '## What they cannot take', losses(natives), '## What an entry names', keys(natives)].join('\n\n')}\n`;
}

const opening = `# Backends with scores of their own

<!-- Written by npm run docs from src/exporters. -->

\`to: span_events\` reaches every backend that takes OTLP. These have tables for scores besides, which their lists, filters and charts read, and each has an
exporter that writes there. It goes the way of [all exporters](../explanation/exports.md): what a backend does not take waits in the store.

A score is known by its evaluation key: tenant, run and name of the evaluator. The same score again, after a crash or a revision of the run, takes the place of
the one before. A verdict that was skipped is not sent; where a revision ends a verdict, or a run turns out to be part of another one, what was written is taken back.`;

function places(backends: readonly NativeBackend[]): string {
  return table(
    ['backend', '`to`', 'a verdict on a run', 'its part on a tool call', 'a verdict on a session', 'a revision'],
    backends.map(({ title, id, places: at, revisions }) => [title, `\`${id}\``, at.run, at.toolCall, at.session, revisions]),
  );
}

function losses(backends: readonly NativeBackend[]): string {
  return backends.map(({ title, cannotTake }) => [`**${title}**`, '', ...cannotTake.map((one) => `- ${one}`)].join('\n')).join('\n\n');
}

function keys(backends: readonly NativeBackend[]): string {
  const rows = backends.flatMap(({ id, endpoint, keys: own }: NativeBackend) => [
    row(id, 'endpoint', endpoint),
    ...nativeKeyNames.flatMap((name) => (own[name] === undefined ? [] : [row(id, name, own[name])])),
  ]);
  return table(['`to`', 'key', 'when left out', 'needed'], rows);
}

function row(id: string, name: string, { variables, preset, isRequired }: NativeKey): readonly string[] {
  const instead = [...variables, ...(preset === undefined ? [] : [preset])].map((one) => `\`${one}\``);
  return [`\`${id}\``, `\`${name}\``, instead.join(', else '), isRequired === true && preset === undefined ? 'yes' : 'no'];
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => '---'), ...rows]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n')
    .replaceAll('| --- ', '|---')
    .replaceAll('--- |', '---|');
}
