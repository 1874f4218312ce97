/** `docs/reference/backends.md`, from the self-description of each backend with its own scores. */
import { scoreApis } from '../../src/exporters/index.ts';
import { scoreApiKeyNames, type ScoreApiBackend, type ScoreApiKey } from '../../src/exporters/scores/score-api-backend.ts';

export function backendsPage(): string {
  return `${[opening, places(scoreApis), '## Verdicts without a place', losses(scoreApis), '## Keys of an entry', keys(scoreApis)].join('\n\n')}\n`;
}

const opening = `# Backends with a score API

<!-- Written by npm run docs from src/exporters. -->

\`to: span_events\` reaches every backend that takes OTLP. These backends also have scores, which their lists, filters and charts read. Scores that a backend
does not take wait in the store, as with [all exporters](../explanation/exports.md).

Tenant, run and evaluator identify a score. The same score again, after a crash or a revision of the run, replaces the one before. Skipped verdicts are not
sent. When a revision ends a verdict, or a run proves to be part of another one, the exporter deletes the score.`;

function places(backends: readonly ScoreApiBackend[]): string {
  return table(
    ['backend', '`to`', 'a verdict on a run', 'its part on a tool call', 'a verdict on a session', 'a revision'],
    backends.map(({ title, id, places: at, revisions }) => [title, `\`${id}\``, at.run, at.toolCall, at.session, revisions]),
  );
}

function losses(backends: readonly ScoreApiBackend[]): string {
  return backends.map(({ title, cannotTake }) => [`**${title}**`, '', ...cannotTake.map((one) => `- ${one}`)].join('\n')).join('\n\n');
}

function keys(backends: readonly ScoreApiBackend[]): string {
  const rows = backends.flatMap(({ id, endpoint, keys: own }: ScoreApiBackend) => [
    row(id, 'endpoint', endpoint),
    ...scoreApiKeyNames.flatMap((name) => (own[name] === undefined ? [] : [row(id, name, own[name])])),
  ]);
  return table(['`to`', 'key', 'when left out', 'needed'], rows);
}

function row(id: string, name: string, { variables, preset, isRequired }: ScoreApiKey): readonly string[] {
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
