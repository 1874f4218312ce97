/** `docs/reference/dialects.md`, from the collectors' own data and from what is read out of the recordings. */
import { fileURLToPath } from 'node:url';
import type { Collector } from '../../collectors/collector.ts';
import { collectors } from '../../collectors/index.ts';
import { isLack, lackTexts } from '../../src/pipeline/reporting/missing-data.ts';
import { recordingsIn } from '../recordings/read.ts';
import { matrix } from './dialects-matrix.ts';

const documented = fileURLToPath(new URL('../fixtures/documented', import.meta.url));

export function dialectsPage(): string {
  return `${[opening, table(), ...collectors.map(section), fromDocumentation(), matrix()].join('\n\n')}\n`;
}

const opening = `# Dialects

<!-- Written by npm run docs from the collectors' own data and the recordings. -->

A dialect is the form in which an SDK writes a run as spans. Each dialect has a collector. The collector knows how to recognise its spans, which attributes
to read, and which setting of the SDK brings content. Recognition goes span by span: one trace may mix dialects, and one span may match
two. Every collector that recognises a span reads it, in the order of this table.

\`tracejury inspect FILE\` shows which collectors read recorded spans, what they found, and what is missing.`;

function table(): string {
  return ['| collector | reads |', '|---|---|', ...collectors.map(({ id, summary }) => `| [${id}](#${id}) | ${cell(summary)} |`)].join(
    '\n',
  );
}

function section({ id, summary, recognisedBy: by, wants, logs, captureHints, carriedBy, documentedAt }: Collector): string {
  const signs = [
    ...signText('scope', by.scopes),
    ...signText('a scope that begins with', by.scopePrefixes),
    ...signText('the attribute', by.keys),
    ...signText('an attribute that begins with', by.keyPrefixes),
    ...signText('a span’s name that begins with', by.namePrefixes),
  ];
  const unless = by.notKeys === undefined ? '' : `, unless it has ${listed(by.notKeys)}`;
  return [
    `## ${id}`,
    summary,
    `Recognised by ${signs.join(', or ')}${unless}.`,
    ...(documentedAt === undefined
      ? []
      : [
          `From documentation, no recording: ${documentedAt.map((page) => `<${page}>`).join(', ')}. The collector follows these pages, and the SDK may send something else.`,
        ]),
    ...(captureHints === undefined
      ? []
      : [
          [
            `- Content: ${captureHints.content}`,
            ...(captureHints.tools === undefined ? [] : [`- Tool definitions: ${captureHints.tools}`]),
          ].join('\n'),
        ]),
    ...(logs === undefined ? [] : [`Also reads log records with the event names ${listed(logs.events)}.`]),
    ...(carriedBy === undefined
      ? []
      : [
          [
            '| what | where |',
            '|---|---|',
            ...Object.entries(carriedBy).map(
              ([field, places]) => `| ${isLack(field) ? lackTexts[field] : field} | ${places.map(placeText).join(', ')} |`,
            ),
          ].join('\n'),
        ]),
    ...(wants.keys.length === 0 && wants.prefixes.length === 0
      ? ['Attributes read: none specific to it.']
      : [`Attributes read: ${listed([...wants.keys, ...wants.prefixes.map((prefix) => `${prefix}*`)])}.`]),
  ].join('\n\n');
}

/** Parts of dialects, or whole ones, that only documentation shows. */
function fromDocumentation(): string {
  const rows = recordingsIn(documented).map(
    ({ name, expected }) => `| ${name} | ${(expected.source.pages ?? []).map((page) => `<${page}>`).join(', ')} |`,
  );
  return [
    `## Dialects from documentation only

Each row is a run in \`test/fixtures/documented\`, written from the pages beside it. No recording shows that an SDK sends such spans.`,
    ['| run | written from |', '|---|---|', ...rows].join('\n'),
  ].join('\n\n');
}

function placeText(place: string): string {
  const [, kind, name] = /^(event|record) (.+)$/.exec(place) ?? [];
  return kind === undefined ? `\`${place}\`` : `${kind === 'event' ? 'span event' : 'log record'} \`${name}\``;
}

function signText(what: string, names: readonly string[] | undefined): readonly string[] {
  return names === undefined || names.length === 0 ? [] : [`${what} ${listed(names)}`];
}

function listed(names: readonly string[]): string {
  return names.map((name) => `\`${name}\``).join(', ');
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|');
}
